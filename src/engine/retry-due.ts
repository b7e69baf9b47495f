import type { StoredParkedMessage } from '../contracts/index.ts'
import { unpackMessage } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { announce, runAfterAck, runHooks } from './after-the-commit.ts'
import { gatherBookkeeping, writeBookkeeping } from './bookkeeping.ts'
import type { Engine } from './engine.ts'
import { addErrorNote, judge } from './failure-policy.ts'
import type { Handler } from './handler.ts'
import { prepare } from './prepare.ts'
import { inTransaction } from './process-batch.ts'
import { runTogether } from './run-in-parts.ts'
import type { Source } from './source.ts'
import { unwrapped } from './undone.ts'
import { whyUndone } from './why-undone.ts'
import type { Outcomes, Run, RunProducts } from './work.ts'

/** What an attempt has come to, once it is committed. */
type Retried<Tx> =
  | { readonly kind: 'done'; readonly run: Run<Tx>; readonly products: RunProducts }
  /** At most once: it is recorded as done and runs only now. */
  | { readonly kind: 'after-ack'; readonly run: Run<Tx> }

/**
 * Gives one due parked message its next attempt. The parked row is locked for the whole attempt, so no other process,
 * redelivery or redrive can meet it. Resolves to whether there was one.
 */
export async function retryOneDue<Tx>(engine: Engine<Tx>, source: Source): Promise<boolean> {
  const { store, timing, clock } = engine
  for (let tries = 1; ; tries++) {
    let row: StoredParkedMessage | undefined
    try {
      const retried = await inTransaction(engine, timing.aloneLockTimeoutMs, async (tx) => {
        const taken = await store.parking.takeDue(tx, { limit: 1, handlers: engine.handlerNames })
        row = taken[0]
        return row === undefined ? undefined : await runAgain(engine, source, tx, row)
      })
      if (retried !== undefined) await afterRetry(engine, source, retried)
      return retried !== undefined
    } catch (error) {
      const why = whyUndone(engine, error)
      if (why === 'unavailable' || row === undefined) throw unwrapped(error)
      // A conflict or a lost commit is not the message's fault, up to a point: it stays due and is taken again.
      if (why === 'failure' || why === 'culprit' || tries >= timing.conflictsPerAttempt) {
        await recordFailure(engine, row, unwrapped(error))
        return true
      }
      await clock.sleep(2 ** Math.min(tries, 6) * (1 + clock.random()))
    }
  }
}

async function runAgain<Tx>(
  engine: Engine<Tx>,
  source: Source,
  tx: Tx,
  row: StoredParkedMessage,
): Promise<Retried<Tx>> {
  const { inbox, parking } = engine.store
  const { handler, key } = row
  const run = await restoreRun(engine, row)
  if (run.handler.delivery === 'at-most-once' && run.failure === undefined) {
    await parking.change(tx, [{ handler, key, kind: 'done' }])
    await inbox.update(tx, [{ handler, key, state: 'processed' }])
    return { kind: 'after-ack', run }
  }
  const outcomes: Outcomes<Tx> = new Map()
  await runTogether(engine, tx, [{ handler: run.handler, runs: [run] }], outcomes, () => false)
  const outcome = outcomes.get(run)
  if (outcome?.kind !== 'processed')
    throw outcome?.kind === 'failed' ? outcome.error : new Error('the run was not started')
  await parking.change(tx, [{ handler, key, kind: 'done' }])
  await inbox.update(tx, [{ handler, key, state: 'processed', result: outcome.products.result }])
  const books = gatherBookkeeping(engine, [run], outcomes, [])
  await writeBookkeeping(engine, source, tx, { ...books, changes: [] }, [])
  return { kind: 'done', run, products: outcome.products }
}

async function afterRetry<Tx>(engine: Engine<Tx>, source: Source, retried: Retried<Tx>): Promise<void> {
  const { run } = retried
  if (retried.kind === 'after-ack') {
    const background: Promise<void>[] = []
    await runAfterAck(engine, source, run, { background })
    await Promise.all(background)
    return
  }
  engine.events.emit({ kind: 'processed', handler: run.handler.name, key: run.key, type: run.handler.type })
  announce(engine, source, retried.products.outgoing.length)
  await runHooks(engine, run, retried.products)
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
  const isRecorded = await store.transaction(async (tx) => {
    if ((await store.parking.take(tx, row)) === undefined) return false
    await store.parking.change(tx, [{ handler, key, kind: state === 'dead' ? 'dead' : 'again', errors, ...verdict }])
    return true
  })
  // Otherwise somebody else has it by now, and will say what became of it.
  if (!isRecorded) return
  events.emit({ kind: 'parked', handler, key, reason: verdict.reason, state, attempts: verdict.attempts, error })
}
