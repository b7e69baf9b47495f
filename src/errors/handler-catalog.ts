/** Handlers: how they are registered, how they fail, and what their messages wait for. */
export const handlerCatalog = {
  HANDLER_FAILED: {
    title: 'A handler threw',
    fix: 'See the error history of the parked message; it is retried until its attempts are used up.',
  },
  HANDLER_TIMEOUT: {
    title: 'A handler took longer than its timeoutMs',
    fix: 'Make it faster, or raise timeoutMs; respect context.signal so that work stops in time.',
  },
  HANDLER_NAME_SHARED: {
    title: 'Two apps on one database have handlers of the same name',
    fix: 'Rename one of them with formerly: [name], or give each app tables of its own (prefix or schema of its store).',
  },
  HANDLER_NAME_INVALID: {
    title: 'A handler name cannot be used as a key',
    fix: 'Use 1 to 100 printable characters. A name that is -, or begins with >, @ or !, is reserved.',
  },
  HANDLER_EXISTS: {
    title: 'Two handlers have the same name',
    fix: 'Give each handler its own name: it is half of the idempotency key.',
  },
  HANDLER_UNKNOWN: {
    title: 'A message waits for a handler that no running app has',
    fix: 'Redrive it when an app has the handler again (with formerly: [name] if it was renamed), or discard it.',
  },
  HOOK_TIMEOUT: {
    title: 'A hook that a handler registered with afterCommit() did not end in time, and is no longer waited for',
    fix: 'Set a time limit on what it calls; work that must happen belongs in the transaction or in a separate message.',
  },
  AROUND_INCOMPLETE: {
    title: 'The around option did not call the handler exactly once',
    fix: 'Call next() exactly once in around(message, next), and wait for it.',
  },
  WAITS_FOR_EARLIER_HANDLER: {
    title: 'An earlier handler of the same message has failed, and this one must wait for it',
    fix: 'It runs as soon as the earlier one has succeeded; register it as independent if it need not wait.',
  },
  WAITS_FOR_EARLIER_MESSAGE: {
    title: 'An earlier message of the same key has failed, and this one must wait for it',
    fix: "It runs as soon as the earlier one has succeeded. If that is a dead letter, redrive or discard it, or set ordered.whenDead: 'continue'.",
  },
  WAITS_FOR_BREAKER: {
    title: 'Its handler was failing on everything when the message arrived, and other messages needed the space',
    fix: 'It continues by itself, without losing an attempt, when the breaker closes; the event breaker-opened says why the handler fails.',
  },
  TOO_MANY_BEHIND: {
    title: 'A dead letter blocks its key, and as many messages wait behind it as may',
    fix: 'Redrive or discard the dead letter that the event key-blocked names, wait until the messages behind it are handled, then redrive these: they keep their order. ordered.mostBehind sets how many may wait.',
  },
  PROCESS_DIED: {
    title: 'Processes have died while they handled this message, the last of them with nothing else running',
    fix: 'Look for an abort, an endless loop or exhausted memory in its handlers, fix it, then redrive the dead letter.',
  },
  BACKOFF_INVALID: {
    title: 'A retry policy threw, or returned something that is not a delay',
    fix: "Let backoff return milliseconds of at least 0 or 'dead', and classify return 'permanent' or 'temporary'; the default backoff was used instead.",
  },
  ORDER_NOT_KEPT: {
    title: 'A handler needs the messages of a key in order, but a transport does not deliver them in order',
    fix: "Configure the transport so that it does (its page says how), or drop ordered: { by: 'key' }.",
  },
  NOT_INTERLEAVABLE: {
    title: 'A handler with interleave: true did something that other handlers in its transaction would notice',
    fix: 'Remove interleave from this handler, or do without savepoints, session settings, temporary tables and functions such as lastval() in it. Until then its messages run one after the other.',
  },
  CANNOT_PIPELINE: {
    title:
      'A handler says interleave: true, but the client of the store sends no statement before the one ahead of it is answered',
    fix: 'Use pg 8.23 or later without pg-native, or postgres.js. Nothing is wrong until then, but statements of messages that interleave wait for each other.',
  },
} as const
