import type { Store } from '../../contracts/index.ts'
import type { OverallCheck } from './proof.ts'
import type { Prover } from './prover.ts'

const title = 'All messages in one batch have the same effect as one by one'

export async function checkBatch<S extends Store>(prover: Prover<S>): Promise<OverallCheck> {
  if (prover.messages.length < 2)
    return { title, verdict: { kind: 'not-applicable', reason: 'there is only one message; give two or more' } }
  const where = 'all messages in one batch'
  const { effect, journal } = await prover.run(where, { batches: [prover.messages] })
  const differences = await prover.confirmedDifferences(effect)
  if (differences.length === 0) return { title, verdict: { kind: 'held' } }
  const handlers = [...new Set(prover.messages.flatMap((message) => prover.handlersOf(message)))]
  const seen = ['Handled together, compared with one by one:']
  const name = prover.hasFound('interleaves-badly', handlers) ? 'interleaves-badly' : 'depends-on-batch'
  const failure = prover.found(name, { handlers, where, seen, differences, journal })
  return { title, verdict: { kind: 'broken', failure } }
}
