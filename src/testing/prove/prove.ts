import { AssertionError } from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../contracts/index.ts'
import type { SqliteStore } from '../../stores/sqlite/index.ts'
import { checkBatch } from './check-batch.ts'
import { checkInterleaving } from './check-interleaving.ts'
import { checkLostUpdates, countMeetings } from './check-lost-updates.ts'
import { checkOutsideWrites } from './check-outside-writes.ts'
import { learn } from './learn.ts'
import { watchLeaving } from './leaving-process.ts'
import { checkProveOptions, type ProveOptions, type UntypedOptions } from './options.ts'
import { catchOwnRejections } from './own-rejections.ts'
import { pinGlobals } from './pinned-globals.ts'
import type { OverallCheck, Proof, ProofTable } from './proof.ts'
import { Prover } from './prover.ts'
import { renderReport } from './report/render-report.ts'
import type { ScratchDatabase } from './scratch.ts'
import { scratchSqlite } from './scratch-sqlite.ts'
import { NotSteady } from './steady.ts'
import { noteStrayCalls } from './stray-calls.ts'
import { countStrikes, strikeMessage } from './strike-message.ts'

/**
 * Shows that handlers keep their effects exactly once. It runs them in a scratch database, then again for every step with a
 * crash, an error or a duplicate at it, and compares the results. Works in any test runner.
 *
 * @example
 * const proof = await prove({
 *   setup: (db) => db.exec('CREATE TABLE payments (id TEXT PRIMARY KEY, amount INTEGER)'),
 *   register: (app) => app.on('payment.received', 'book-payment', bookPayment),
 *   messages: [{ id: 'p1', type: 'payment.received', body: { amount: 30 } }],
 * })
 * assert.ok(proof.ok, proof.report)
 */
export async function prove<S extends Store = SqliteStore<DatabaseSync>, Map extends object = Record<string, unknown>>(
  options: ProveOptions<S, Map>,
): Promise<Proof> {
  // Only the author of register() needs the types of the messages.
  const untyped = options as unknown as UntypedOptions<S>
  checkProveOptions(untyped as unknown as UntypedOptions<Store>)
  const database = options.database ?? (scratchSqlite() as unknown as ScratchDatabase<S>)
  const begunAt = performance.now()
  const template = await database.prepare(async (db, place) => options.setup?.(db, place))
  const unpin = pinGlobals()
  const unwatch = watchLeaving()
  const uncatch = catchOwnRejections()
  try {
    const prover = new Prover(untyped, template)
    const { table, checks } = await examine(prover)
    return proofOf(prover, { table, checks, database: database.name, ms: performance.now() - begunAt })
  } finally {
    uncatch()
    unwatch()
    unpin()
    await template.remove()
  }
}

interface Examined {
  readonly table: readonly ProofTable[]
  readonly checks: readonly OverallCheck[]
}

async function examine<S extends Store>(prover: Prover<S>): Promise<Examined> {
  const table: ProofTable[] = []
  const checks: OverallCheck[] = []
  try {
    if (!(await learn(prover))) return { table, checks }
    prover.expectedRuns = prover.runs + countStrikes(prover) + countMeetings(prover) + 2 * prover.messages.length
    checks.push(await checkOutsideWrites(prover))
    // Before the batch as a whole, which it explains.
    const interleaving = await checkInterleaving(prover)
    checks.push(await checkBatch(prover))
    for (const message of prover.messages) table.push(await strikeMessage(prover, message))
    checks.push(await checkLostUpdates(prover))
    if (interleaving !== undefined) checks.push(interleaving)
  } catch (error) {
    if (!(error instanceof NotSteady)) throw error
  }
  await noteLateCalls(prover)
  return { table, checks }
}

/** A timer may make a call long after its run. */
async function noteLateCalls<S extends Store>(prover: Prover<S>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  for (const { doing, journal } of prover.journals) noteStrayCalls(prover, journal, doing)
}

function proofOf<S extends Store>(
  { failures, notes, runs }: Prover<S>,
  rest: Examined & { readonly database: string; readonly ms: number },
): Proof {
  const content = { ok: failures.every(({ isAllowed }) => isAllowed), failures, notes, runs, ...rest }
  const report = renderReport(content)
  return {
    ...content,
    report,
    assert() {
      if (!content.ok) throw new AssertionError({ message: report })
    },
    toJSON: () => content,
  }
}
