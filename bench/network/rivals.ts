import { interleaved } from '../rounds.ts'
import type { BenchOptions, Row } from '../suite.ts'
import { measure } from '../transfers/measure.ts'
import type { PoolOf } from './pools.ts'
import { messagesIn, type Situation, situations } from './situations.ts'

export type Rival = 'bare' | 'insert-first' | 'insert-first-result'

/** How many connections are best for a rival; justonce gets as many where it is compared with it. */
export type Connections = (rival: Rival, situation: Situation) => number

const candidates = [4, 10, 20]

/** Short rounds before the ones that count. They warm everything up, too. */
export async function chooseConnections(
  poolOf: PoolOf,
  { rounds, messages }: BenchOptions,
  say: (line: string) => void,
): Promise<Connections> {
  const chosen = new Map<string, number>()
  for (const situation of situations) {
    const workload = messagesIn(situation, { messages: Math.ceil(messages / 4) })
    for (const rival of ['bare', 'insert-first'] as const) {
      // With more connections than messages in flight, the others stay idle.
      const useful = candidates.filter((connections) => connections <= Math.max(4, situation.inFlight))
      const ways = useful.map((connections) => ({
        name: String(connections),
        against: String(connections),
        measure: () => measure(rival, { pool: poolOf(connections), workload, inFlight: situation.inFlight }),
      }))
      const rows = await interleaved(ways, Math.min(2, rounds), () => {})
      const best = rows.reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
      say(`  ${rival}${situation.suffix}: best with ${best.name} connections (${rows.map(speed).join(', ')})`)
      chosen.set(rival + situation.suffix, Number(best.name))
    }
  }
  return (rival, { suffix }) => chosen.get((rival === 'bare' ? rival : 'insert-first') + suffix) as number
}

function speed({ name, perSecond }: Row): string {
  return `${name}: ${perSecond}/s`
}
