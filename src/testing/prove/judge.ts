import type { IncomingMessage, Store } from '../../contracts/index.ts'
import type { Difference } from './compare.ts'
import type { FailureName } from './failure-names.ts'
import type { Verdict } from './proof.ts'
import type { Prover } from './prover.ts'
import type { RunOutcome } from './run.ts'
import { noteStrayCalls } from './stray-calls.ts'

/** Compares the result of a run with the undisturbed one, and chooses the best name for a difference. */
export async function judge<S extends Store>(
  prover: Prover<S>,
  message: IncomingMessage,
  where: string,
  outcome: RunOutcome,
  about?: IncomingMessage,
): Promise<Verdict> {
  if (!outcome.wasStruck) return { kind: 'unreached' }
  const { journal, effect, stuck } = outcome
  const differences = await prover.confirmedDifferences(effect)
  const broken = (failure: number): Verdict => ({ kind: 'broken', failure })
  const [swallower] = journal.swallowedBy
  if (swallower !== undefined && (differences.length > 0 || journal.undone > 0)) {
    const seen = [`A query of ${swallower} failed, but ${swallower} returned as if it had succeeded.`]
    return broken(prover.found('swallows-error', { handlers: [swallower], where, seen, differences, journal, about }))
  }
  const stray = noteStrayCalls(prover, journal, where)
  if (stray !== undefined) return broken(stray)
  const handlers = prover.handlersOf(message)
  if (stuck.length > 0)
    return broken(
      prover.found('never-settled', {
        handlers,
        where,
        seen: [`${stuck.join(', ')} kept being redelivered.`],
        journal,
      }),
    )
  if (differences.length === 0) return { kind: 'held' }
  const seen = [...atLeastOnce(prover, message), 'Afterwards, compared with the undisturbed run:']
  const cause = prover.causeFor(handlers)
  const found = { handlers: cause?.handlers ?? handlers, where, seen, differences, journal, about }
  return broken(prover.found(cause?.name ?? nameFor(differences), found))
}

function atLeastOnce<S extends Store>(prover: Prover<S>, message: IncomingMessage): readonly string[] {
  const ran = prover.baseline.journal.ran.get(String(message.id)) ?? []
  return [...ran]
    .filter(([, delivery]) => delivery === 'at-least-once')
    .map(
      ([name]) =>
        `${name} is at-least-once: it keeps no record, so running it twice must have the same effect as once.`,
    )
}

function nameFor(differences: readonly Difference[]): FailureName {
  if (differences.every(({ expected }) => expected === undefined)) return 'effect-doubled'
  if (differences.every(({ found }) => found === undefined)) return 'effect-lost'
  return 'effect-differs'
}
