import type { Engine } from '../engine/engine.ts'
import { intentsCommitted } from '../engine/intending/intents-committed.ts'
import { type IntendOptions, newIntent } from '../engine/intending/new-intent.ts'
import { claimIntents, writeIntents } from '../engine/intending/store-intents.ts'
import { traceNow } from '../engine/publishing/with-trace.ts'
import { JustonceError } from '../errors/index.ts'

/** `app.intend`: stores an intent in a transaction of the caller. Resolves to its key. */
export async function intendWithin(
  engine: Engine<unknown>,
  effect: string,
  payload: unknown,
  { tx, ...options }: IntendOptions & { readonly tx?: unknown } = {},
): Promise<string> {
  engine.effects.check(effect)
  if (tx === undefined)
    throw new JustonceError('OPTION_INVALID', {
      message: `app.intend(${JSON.stringify(effect)}, …) needs tx, the transaction that decides on it: without one, nobody would know whether the call was meant.`,
    })
  const { store, limits, clock } = engine
  const announced = engine.effects.announced(effect)
  const intent = newIntent({
    ...{ effect, payload, options, announced, now: clock.now(), maxBytes: limits.maxBodyBytes },
    trace: traceNow(engine.traceHeaders, undefined),
  })
  const joined = store.within(tx)
  // Every store refuses a savepoint outside of a transaction, where the intent would be stored immediately.
  const { duplicates } = await joined.savepoint(async () => {
    const claimed = await claimIntents(joined.inbox, tx, [intent])
    await writeIntents({ inbox: joined.inbox, parking: store.parking }, tx, claimed)
    return claimed
  })
  // This process does not see the commit: the worker finds it when it looks.
  intentsCommitted({ ...engine, wake: () => {} }, { rows: [], claimed: [], duplicates })
  return intent.row.key
}
