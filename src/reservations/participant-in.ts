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

/** What the record of the end says. Confirm and cancel share it, so that only one of them can take effect. */
type EndRecord = { readonly ended: 'confirmed' | 'cancelled' }

/**
 * A participant whose resource is in a store. Each step takes effect once, in one transaction with its record. A cancel without a
 * `try` before it does nothing, and a `try` that comes after its cancel is refused: both happen when a call is slow and its
 * caller gives up. What has ended stays as it is, also if the one who decided has forgotten it because a backup was restored.
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
  const recordOf = (call: ReservationCall<Body>, record: 'try' | 'end') => ({
    handler: `${call.reservation}/${call.participant}/${record}`,
    key: call.id,
  })
  const end = async (call: ReservationCall<Body>, ended: EndRecord['ended'], work: (tx: Tx) => Promise<unknown>) => {
    const outcome = await once(store, recordOf(call, 'end'), async (tx): Promise<EndRecord> => {
      await work(tx)
      return { ended }
    })
    if (isDone(outcome, call) && outcome.value.ended !== ended)
      throw new Error(`${call.participant} was ${outcome.value.ended} before, so it cannot be ${ended}.`)
  }
  return {
    async try(call) {
      const outcome = await once(store, recordOf(call, 'try'), async (tx): Promise<TryRecord> => {
        await steps.try(tx, call)
        return { wasCancelled: false }
      })
      if (!isDone(outcome, call) || outcome.status === 'processed') return undefined
      // Somebody tries again what may have ended long ago.
      const [record] = await store.inbox.find([recordOf(call, 'end')])
      const ended = record?.result === undefined ? undefined : (JSON.parse(record.result) as EndRecord).ended
      if (outcome.value.wasCancelled || ended === 'cancelled')
        throw new PermanentError(`${call.participant} was cancelled before it was tried.`)
      return ended
    },
    confirm: (call) =>
      end(call, 'confirmed', async (tx) => {
        // If this database has lost what was set aside, it is set aside now; if that is refused, nothing is confirmed.
        await once(store.within(tx), recordOf(call, 'try'), async (): Promise<TryRecord> => {
          await steps.try(tx, call)
          return { wasCancelled: false }
        })
        await steps.confirm(tx, call)
      }),
    cancel: (call) =>
      end(call, 'cancelled', async (tx) => {
        // Takes the place of the try, or waits for one that is running: from now on none can begin.
        const tried = await once(store.within(tx), recordOf(call, 'try'), (): TryRecord => ({ wasCancelled: true }))
        if (tried.status === 'duplicate') await steps.cancel(tx, call)
      }),
  }
}

type Outcome<Value> = Awaited<ReturnType<typeof once<never, Value>>>
type Done<Value> = Outcome<Value> & { readonly status: 'processed' | 'duplicate' }

function isDone<Value>(outcome: Outcome<Value>, { participant }: ReservationCall): outcome is Done<Value> {
  if (outcome.status === 'processed' || outcome.status === 'duplicate') return true
  throw new Error(`Another call of ${participant} is still running.`)
}
