import type { StoredParkedMessage } from '../contracts/index.ts'
import { unpackMessage } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { gatherBookkeeping, writeBookkeeping } from './bookkeeping.ts'
import type { Engine } from './engine.ts'
import { addErrorNote, judge } from './failure-policy.ts'
import type { Handler } from './handler.ts'
import { prepare } from './prepare.ts'
import { runTogether } from './run-in-parts.ts'
import type { Source } from './source.ts'
import { Undone, unwrapped } from './undone.ts'
import { whyUndone } from './why-undone.ts'
import type { Outcomes, Run } from './work.ts'

/**
 * Gives one due parked message its next attempt. The parked row is locked for the whole attempt, so no other process,
 * redelivery or redrive can meet it. Resolves to whether there was one.
 */
export async function retryOneDue<Tx>(engine: Engine<Tx>, source: Source): Promise<boolean> {
  const { store, timing } = engine
  const abort = new AbortController()
  let row: StoredParkedMessage | undefined
  try {
    await store.transaction(
      async (tx) => {
        const taken = await store.parking.takeDue(tx, { limit: 1, handlers: engine.handlerNames })
        row = taken[0]
        if (row === undefined) return
        try {
          await runAgain(engine, source, tx, row)
        } catch (error) {
          if (error instanceof Undone && error.reason === 'culprit') abort.abort(error)
          throw error
        }
      },
      { lockTimeoutMs: timing.aloneLockTimeoutMs, idleTimeoutMs: timing.idleTimeoutMs, signal: abort.signal },
    )
  } catch (error) {
    const why = whyUndone(engine, error)
    if (why === 'unavailable' || row === undefined) throw unwrapped(error)
    // A conflict or a lost commit is not the message's fault: it stays due and is taken again.
    if (why === 'failure' || why === 'culprit') await recordFailure(engine, row, unwrapped(error))
  }
  return row !== undefined
}

async function runAgain<Tx>(engine: Engine<Tx>, source: Source, tx: Tx, row: StoredParkedMessage): Promise<void> {
  const run = await restoreRun(engine, row)
  const outcomes: Outcomes<Tx> = new Map()
  await runTogether(engine, tx, [{ handler: run.handler, runs: [run] }], outcomes, () => false)
  const outcome = outcomes.get(run)
  if (outcome?.kind !== 'processed')
    throw outcome?.kind === 'failed' ? outcome.error : new Error('the run was not started')
  const { inbox, parking } = engine.store
  await parking.change(tx, [{ handler: row.handler, key: row.key, kind: 'done' }])
  await inbox.update(tx, [{ handler: row.handler, key: row.key, state: 'processed', result: outcome.products.result }])
  const books = gatherBookkeeping(engine, [run], outcomes, [])
  await writeBookkeeping(engine, source, tx, { ...books, changes: [] }, [])
}

async function restoreRun<Tx>(engine: Engine<Tx>, row: StoredParkedMessage): Promise<Run<Tx>> {
  const handler = engine.handlerNamed(row.handler) as Handler<Tx>
  const prepared = await prepare(engine, { message: unpackMessage(row.message) })
  if (prepared.kind === 'refused') throw prepared.refusal.error
  const run = prepared.kind === 'work' ? prepared.work.runs.find((other) => other.handler === handler) : undefined
  if (run === undefined) {
    throw new JustonceError('TYPE_UNKNOWN', {
      message: `Handler ${row.handler} no longer takes messages of type ${row.type}.`,
    })
  }
  // Earlier handlers of the message have their own records and rows; takeDue has already kept the order.
  return { ...run, work: { ...run.work, runs: [] } }
}

async function recordFailure<Tx>(engine: Engine<Tx>, row: StoredParkedMessage, error: unknown): Promise<void> {
  const { store, clock, events } = engine
  const retry = (engine.handlerNamed(row.handler) as Handler<Tx>).retry
  const { state, ...verdict } = judge(error, retry, row.attempts, clock.random())
  const errors = addErrorNote(row.errors, error, clock.now())
  const { handler, key } = row
  await store.transaction(async (tx) => {
    if ((await store.parking.take(tx, row)) === undefined) return
    await store.parking.change(tx, [{ handler, key, kind: state === 'dead' ? 'dead' : 'again', errors, ...verdict }])
  })
  events.emit({ kind: 'parked', handler, key, reason: verdict.reason, state, attempts: verdict.attempts, error })
}
