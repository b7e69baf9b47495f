import type { Delivery, NewParkedMessage, OutgoingMessage, RecordChange, RecordKey } from '../contracts/index.ts'
import { packMessage } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { isRecorded } from './claim.ts'
import type { Engine } from './engine.ts'
import { conflictRow, failedRow, refusedRow, waitingRow } from './parked-rows.ts'
import type { Source } from './source.ts'
import type { Outcomes, Refusal, Run, RunOutcome } from './work.ts'

/** All that a batch has to write beside the handlers' own effects. */
export interface Bookkeeping {
  readonly changes: RecordChange[]
  readonly parked: NewParkedMessage[]
  readonly outgoing: OutgoingMessage[]
  readonly released: RecordKey[]
}

export function gatherBookkeeping<Tx>(
  engine: Engine<Tx>,
  runs: readonly Run<Tx>[],
  outcomes: Outcomes<Tx>,
  refusals: readonly Refusal[],
): Bookkeeping {
  const at = engine.clock.now()
  const books: Bookkeeping = { changes: [], parked: [], outgoing: [], released: [] }
  for (const refusal of refusals) books.parked.push(refusedRow(refusal, at))
  for (const run of runs) gatherRun(engine, run, outcomes.get(run) as RunOutcome, at, books)
  return books
}

function gatherRun<Tx>(engine: Engine<Tx>, run: Run<Tx>, outcome: RunOutcome, at: Date, books: Bookkeeping): void {
  switch (outcome.kind) {
    case 'processed':
      books.outgoing.push(...outcome.products.outgoing)
      if (outcome.products.result !== undefined && isRecorded(run)) {
        books.changes.push({
          handler: run.handler.name,
          key: run.key,
          state: 'processed',
          result: outcome.products.result,
        })
      }
      break
    case 'failed':
      books.parked.push(failedRow(run, outcome.error, at, engine.clock.random()))
      // The record stays and says that the parked row owns the message: a late copy is then a duplicate of it.
      if (isRecorded(run)) books.changes.push({ handler: run.handler.name, key: run.key, state: 'parked' })
      break
    case 'waiting':
      books.parked.push(waitingRow(run))
      if (isRecorded(run)) books.changes.push({ handler: run.handler.name, key: run.key, state: 'parked' })
      break
    case 'conflict':
      books.parked.push(conflictRow(run, outcome, at))
      break
    case 'unstarted':
      if (isRecorded(run))
        for (const name of [run.handler.name, ...run.handler.formerly])
          books.released.push({ handler: name, key: run.key })
      break
    default:
      break
  }
}

/** Writes it in bulk. Most batches have nothing to write, and then this costs nothing. */
export async function writeBookkeeping<Tx>(
  engine: Engine<Tx>,
  source: Source,
  tx: Tx,
  books: Bookkeeping,
  done: readonly Delivery[],
): Promise<void> {
  const { inbox, parking, outbox } = engine.store
  if (books.released.length > 0) await inbox.release(tx, books.released)
  if (books.changes.length > 0) await inbox.update(tx, books.changes)
  if (books.parked.length > 0) await parking.park(tx, books.parked)
  if (books.outgoing.length > 0) {
    if (source.outlet !== undefined) await source.outlet.publish(tx, books.outgoing)
    else if (outbox === undefined)
      throw new JustonceError('OPTION_INVALID', {
        message: `A handler has published a message, but ${engine.store.name} has no outbox to keep it in.`,
      })
    else
      await outbox.append(
        tx,
        books.outgoing.map((message) => ({ id: message.id, message: packMessage(message) })),
      )
  }
  if (source.inside !== undefined && done.length > 0) await source.inside.settle(tx, done)
}
