import type { Cpu } from './cpu.ts'
import type { Goal, Row } from './suite.ts'

/** One measured run of a way of working. */
export interface Measured {
  readonly deliveries: number
  readonly ms: number
  readonly correct: boolean
  readonly cpu?: Cpu
}

/** A way of working through the same messages. */
export interface Way {
  readonly name: string
  /** The name of the way it is compared with, or so many per second. */
  readonly against: string | number
  /** What the ratio should be. */
  readonly goal?: Goal
  measure(): Promise<Measured>
}

/**
 * Measures all ways in turn, round after round, so that whatever else the machine does hits them all alike. Every other
 * round goes backwards: being first or last is nobody's advantage.
 */
export async function interleaved(
  ways: readonly Way[],
  rounds: number,
  say: (line: string) => void,
): Promise<readonly Row[]> {
  const measured = new Map(ways.map(({ name }) => [name, [] as Measured[]]))
  for (let round = 0; round < rounds; round++) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      const result = await way.measure()
      measured.get(way.name)?.push(result)
      say(`  round ${round + 1}  ${way.name}: ${Math.round(perSecond(result))}/s${result.correct ? '' : '  WRONG'}`)
    }
  }
  const medians = new Map([...measured].map(([name, results]) => [name, median(results.map(perSecond))]))
  return ways.map(({ name, against, goal }) => {
    const own = medians.get(name) as number
    const other = typeof against === 'number' ? against : (medians.get(against) as number)
    return {
      name,
      perSecond: Math.round(own),
      ratio: Number((own / other).toFixed(3)),
      correct: (measured.get(name) as Measured[]).every(({ correct }) => correct),
      ...cpuEach(measured.get(name) as Measured[]),
      ...(goal && { goal: { ...goal, met: isMet(goal, own / other) } }),
    }
  })
}

/** For each delivery, the median of the rounds. */
function cpuEach(results: readonly Measured[]): { readonly cpu?: Cpu } {
  const each = results.flatMap(({ cpu, deliveries }) => (cpu === undefined ? [] : { cpu, deliveries }))
  if (each.length === 0) return {}
  const of = (place: keyof Cpu): number =>
    Math.round(median(each.map(({ cpu, deliveries }) => cpu[place] / deliveries)))
  return { cpu: { here: of('here'), server: of('server') } }
}

function isMet({ atLeast, atMost = Number.POSITIVE_INFINITY }: Goal, ratio: number): boolean {
  return ratio >= atLeast && ratio <= atMost
}

function perSecond({ deliveries, ms }: Measured): number {
  return (deliveries / ms) * 1_000
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}

/** The smallest value that so large a share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number
}
