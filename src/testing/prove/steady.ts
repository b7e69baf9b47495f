import type { Store } from '../../contracts/index.ts'
import type { Journal } from './journal.ts'
import type { Prover } from './prover.ts'
import type { RunOutcome } from './run.ts'

/** Thrown if undisturbed runs differ from each other, because there is then nothing to compare with. */
export class NotSteady extends Error {}

/** Two undisturbed runs with the same clock and random values must be equal, except for what the database itself changes. */
export function checkSteady<S extends Store>(prover: Prover<S>, { effect, journal }: RunOutcome): void {
  const differences = prover.differences(effect)
  if (differences.length === 0) return
  const first = prover.baseline.journal
  if (!comesFromHandler(first, journal)) {
    prover.ignoreUnsteady(effect)
    if (prover.differences(effect).length === 0) return
  }
  // A library that fetches random numbers in bulk, or wraps the clock, looks like state in memory.
  const rolled = first.reads.random + journal.reads.random > 0
  const looked = first.reads.clock + journal.reads.clock > 0
  prover.found(rolled ? 'reads-randomness' : looked ? 'reads-clock' : 'keeps-state', {
    handlers: [...new Set(prover.messages.flatMap((message) => prover.handlersOf(message)))],
    where: 'nothing: these were two undisturbed runs',
    seen: ['The same messages were handled again, in a fresh copy of the database, with a different result:'],
    differences,
  })
  prover.notes.push('The remaining runs were skipped: without a stable effect, there is nothing to compare with.')
  throw new NotSteady()
}

/** Whether the first difference between two runs is in what the handler asks, publishes or intends, not in an answer of the database. */
function comesFromHandler(one: Journal, other: Journal): boolean {
  for (const [index, query] of one.trace.entries()) {
    const twin = other.trace[index]
    if (twin?.question !== query.question) return true
    if (twin.answer !== query.answer) return false
  }
  return other.trace.length > one.trace.length
}
