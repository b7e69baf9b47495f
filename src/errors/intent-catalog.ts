/** Codes for effects and their intents. */
export const intentCatalog = {
  EFFECT_UNKNOWN: {
    title: 'An intent names an effect that the app does not know',
    fix: 'Register it with app.effect() in every process that intends it. If another app runs it, say so: app.effect(name, { elsewhere: true }).',
  },
  EFFECT_EXISTS: {
    title: 'Two effects have the same name',
    fix: 'Give each effect a name of its own.',
  },
  INTENT_PENDING: {
    title: 'An intent has not been called yet',
    fix: 'Nothing, unless it stays so: then no running app has its effect, or the effect is paused by its breaker or its rate.',
  },
  INTENT_FAILED: {
    title: 'The call of an effect has failed and is known to have changed nothing',
    fix: 'Nothing: it is called again. The error history says why it failed.',
  },
  INTENT_UNKNOWN: {
    title: 'Nobody knows whether the call of an effect has happened',
    fix: 'An effect with keyed or probe settles it by itself. Otherwise look at the provider, and say operations.intents.resolve(): done, again or discarded.',
  },
  INTENT_GIVEN_UP: {
    title: 'The call of an effect did not happen, and is not tried any more',
    fix: "Remove the cause, which the error history shows, and resolve the intent: 'again' or 'discarded'.",
  },
  INTENT_RESULT: {
    title: 'The outcome of an intent waits for its handlers',
    fix: 'Nothing: it is delivered to them like every message.',
  },
  INTENT_RESULT_NOT_KEPT: {
    title: 'The call of an effect has happened, but what it returned cannot be stored',
    fix: 'Return what JSON can hold, without a property named __proto__, and not more than maxBodyBytes.',
  },
  INTENT_TIMEOUT: {
    title: 'The call of an effect took longer than its timeoutMs',
    fix: 'Pass the signal on to what is called, or raise timeoutMs of the effect.',
  },
  RESERVATION_UNDER_WAY: {
    title:
      'A reservation has begun, so its intent cannot be resolved like this: nobody would end what is set aside for it',
    fix: "To give up one that is not decided, resolve it as 'discarded': everything is cancelled then. One that is to be confirmed goes on until it is.",
  },
  INTENT_NOT_FOUND: {
    title: 'There is no such intent, or not in this state',
    fix: 'List the intents again: another process or person may have settled it.',
  },
} as const satisfies Record<string, { title: string; fix: string }>
