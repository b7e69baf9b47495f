import type { Store } from '../../contracts/index.ts'
import type { OverallCheck } from './proof.ts'
import type { Prover } from './prover.ts'

const title = 'When a transaction is rolled back, nothing of it remains'

/** Handles every message to the end and then rolls it back without a retry. Nothing may remain. */
export async function checkOutsideWrites<S extends Store>(prover: Prover<S>): Promise<OverallCheck> {
  let failure: number | undefined
  let before = prover.baseline.initial
  for (const [index, message] of prover.messages.entries()) {
    const steps = prover.baseline.steps.get(message) ?? []
    // The first commit: what a handler with its own transaction has committed before it may stay.
    const commit = steps.findIndex(({ kind }) => kind === 'commit')
    const ran = prover.baseline.journal.ran.get(String(message.id))
    const handlers = [...(ran ?? [])].filter(([, delivery]) => delivery === 'exactly-once').map(([name]) => name)
    const messages = prover.messages.slice(0, index + 1)
    if (commit >= 0 && handlers.length > 0) {
      const { effect, journal } = await prover.run(`rolling back ${message.id}`, {
        batches: prover.oneByOne(messages),
        strike: { message, step: commit, what: { kind: 'crash-before' } },
        staysDead: true,
      })
      const differences = await prover.confirmedDifferences(effect, before)
      if (differences.length > 0) {
        failure ??= prover.found('writes-outside-tx', {
          handlers,
          where: `${message.id} handled and rolled back`,
          seen: [`${message.id} was handled, and its transaction was rolled back. These changes remained:`],
          differences,
          journal,
        })
      }
    }
    if (index < prover.messages.length - 1)
      before = (await prover.run('the state in between', { batches: prover.oneByOne(messages) })).effect
  }
  return { title, verdict: failure === undefined ? { kind: 'held' } : { kind: 'broken', failure } }
}
