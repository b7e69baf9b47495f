import type { StoredParkedMessage, WantedMessages } from '../../contracts/index.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Engine } from '../engine.ts'
import { abandoned } from './parked-rows.ts'

const atOnce = 20
const mostBytes = 16 * 1_048_576

/** Turns all messages that wait for a handler that no running app has into dead letters. Resolves to their number. */
export async function abandonLetters<Tx>(
  engine: Engine<Tx>,
  { handler, type }: WantedMessages,
  signal: AbortSignal,
): Promise<number> {
  const { parking } = engine.store
  const what = handler === unrouted ? 'a handler' : `the handler ${handler}`
  const error = new JustonceError(handler === unrouted ? 'TYPE_UNKNOWN' : 'HANDLER_UNKNOWN', {
    message: `No running app has ${what} for messages of type ${type}.`,
    details: { handler, type },
  })
  let count = 0
  for (let after = 0; !signal.aborted; ) {
    const rows = await parking.list({ state: 'waiting', handler, type }, { limit: atOnce, after, maxBytes: mostBytes })
    const last = rows.at(-1)
    if (last === undefined) return count
    after = last.sequence
    for (const { key, attempts } of await abandon(engine, rows, error)) {
      count++
      const reason = error.code
      engine.events.emit({ kind: 'parked', handler, key, reason, state: 'dead', attempts, error })
    }
  }
  return count
}

/** Rows that another process has taken meanwhile are left to it. */
async function abandon<Tx>(
  { store, clock }: Engine<Tx>,
  rows: readonly StoredParkedMessage[],
  error: JustonceError,
): Promise<readonly StoredParkedMessage[]> {
  return await store.transaction(async (tx) => {
    const taken = await store.parking.take(tx, rows)
    const ours = rows.filter((_, index) => taken[index] === true)
    const at = clock.now()
    if (ours.length > 0)
      await store.parking.change(
        tx,
        ours.map((row) => abandoned(row, error, at)),
      )
    return ours
  })
}
