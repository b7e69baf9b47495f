import type { IncomingMessage, Store } from '../../contracts/index.ts'
import type { Difference } from './compare.ts'
import type { FailureName } from './failure-names.ts'
import type { Verdict } from './proof.ts'
import type { Prover } from './prover.ts'
import type { RunOutcome } from './run.ts'
import { noteStrayCalls } from './stray-calls.ts'

/** Compares what a run has left behind with the undisturbed one, and finds the best name for what is different. */
export async function judge<S extends Store>(
  prover: Prover<S>,
  message: IncomingMessage,
  where: string,
  outcome: RunOutcome,
): Promise<Verdict> {
  if (!outcome.wasStruck) return { kind: 'unreached' }
  const { journal, effect, stuck } = outcome
  const differences = await prover.confirmedDifferences(effect)
  const broken = (failure: number): Verdict => ({ kind: 'broken', failure })
  const [swallower] = journal.swallowedBy
  if (swallower !== undefined && (differences.length > 0 || journal.undone > 0)) {
    const seen = [`A query of ${swallower} failed, and ${swallower} returned as if it had not.`]
    return broken(prover.found('swallows-error', { handlers: [swallower], where, seen, differences, journal }))
  }
  const stray = noteStrayCalls(prover, journal, where)
  if (stray !== undefined) return broken(stray)
  const handlers = prover.handlersOf(message)
  if (stuck.length > 0)
    return broken(
      prover.found('never-settled', { handlers, where, seen: [`${stuck.join(', ')} came again and again.`], journal }),
    )
  if (differences.length === 0) return { kind: 'held' }
  const known = prover.failures.findIndex(
    ({ name, handlers: others }) => name === 'writes-outside-tx' && others.some((other) => handlers.includes(other)),
  )
  const name = known >= 0 ? 'writes-outside-tx' : nameFor(differences)
  const seen = ['Afterwards, compared with the undisturbed run:']
  const owners = known >= 0 ? (prover.failures[known]?.handlers ?? handlers) : handlers
  return broken(prover.found(name, { handlers: owners, where, seen, differences, journal }))
}

function nameFor(differences: readonly Difference[]): FailureName {
  if (differences.every(({ expected }) => expected === undefined)) return 'effect-doubled'
  if (differences.every(({ found }) => found === undefined)) return 'effect-lost'
  return 'effect-differs'
}
