import type { Store } from '../contracts/index.ts'
import { once } from '../engine/once/once.ts'
import { JustonceError, PermanentError } from '../errors/index.ts'
import type { Participant, ReservationCall, Step } from './participant.ts'

/** The steps of a participant, each in a transaction of the store that has the resource. */
export type StepsIn<Tx, Body> = {
  readonly [Name in Step]: (tx: Tx, call: ReservationCall<Body>) => unknown
}

/** What the record of a `try` says. A cancel that came first has left one, so that the `try` finds it. */
type TryRecord = { readonly wasCancelled: boolean }

/**
 * A participant whose resource is in a store. Each step takes effect once, in one transaction with its record. A cancel without a
 * `try` before it does nothing, and a `try` that comes after its cancel is refused: both happen when a call is slow and its
 * caller gives up.
 *
 * ```ts
 * const stock = participantIn(store, {
 *   try: (tx, { body }) => tx.query('update stock set free = free - $1, held = held + $1 where …', [body.count]),
 *   confirm: (tx, { body }) => tx.query('update stock set held = held - $1 where …', [body.count]),
 *   cancel: (tx, { body }) => tx.query('update stock set free = free + $1, held = held - $1 where …', [body.count]),
 * })
 * ```
 */
export function participantIn<Tx, Body = unknown>(store: Store<Tx>, steps: StepsIn<Tx, Body>): Participant<Body> {
  if (store.guarantee !== 'atomic') {
    throw new JustonceError('GUARANTEE_TOO_WEAK', {
      message: `A participant needs a store that commits record and effect together; the guarantee of ${store.name} is ${store.guarantee}.`,
    })
  }
  const recordOf = (call: ReservationCall<Body>, step: Step) => ({
    handler: `${call.reservation}/${call.participant}/${step}`,
    key: call.id,
  })
  return {
    async try(call) {
      const outcome = await once(store, recordOf(call, 'try'), async (tx): Promise<TryRecord> => {
        await steps.try(tx, call)
        return { wasCancelled: false }
      })
      if (isDone(outcome, call) && outcome.value.wasCancelled)
        throw new PermanentError(`${call.participant} was cancelled before it was tried.`)
    },
    async confirm(call) {
      const outcome = await once(store, recordOf(call, 'confirm'), async (tx) => {
        await steps.confirm(tx, call)
      })
      isDone(outcome, call)
    },
    async cancel(call) {
      const outcome = await once(store, recordOf(call, 'cancel'), async (tx) => {
        // Takes the place of the try, or waits for one that is running: from now on none can begin.
        const tried = await once(store.within(tx), recordOf(call, 'try'), (): TryRecord => ({ wasCancelled: true }))
        if (tried.status === 'duplicate') await steps.cancel(tx, call)
      })
      isDone(outcome, call)
    },
  }
}

type Outcome<Value> = Awaited<ReturnType<typeof once<never, Value>>>
type Done<Value> = Outcome<Value> & { readonly status: 'processed' | 'duplicate' }

function isDone<Value>(outcome: Outcome<Value>, { participant }: ReservationCall): outcome is Done<Value> {
  if (outcome.status === 'processed' || outcome.status === 'duplicate') return true
  throw new Error(`Another call of ${participant} is still running.`)
}
