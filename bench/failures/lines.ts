import { median, type Way } from '../rounds.ts'
import type { Lines, Row } from '../suite.ts'

export function speedLines(rows: readonly Row[], ways: readonly Way[]): Lines {
  const hasCpu = rows.some(({ cpu }) => cpu !== undefined)
  const head = ['name', 'per second', 'against', 'ratio', 'goal', 'correct']
  return [
    [...head, ...(hasCpu ? ['CPU here, µs', 'CPU of the server, µs'] : [])],
    ...rows.map(({ name, perSecond, ratio, goal, correct, cpu }) => [
      name,
      String(perSecond),
      against(ways.find((way) => way.name === name)),
      ratio.toFixed(2),
      goalText(goal),
      correct ? 'yes' : 'NO',
      ...(hasCpu ? [String(cpu?.here ?? ''), String(cpu?.server ?? '')] : []),
    ]),
  ]
}

/** They may be fewer than were released where the handler is no faster. */
export function processedLines(processed: ReadonlyMap<string, readonly number[]>): Lines {
  return [['name', 'per second'], ...[...processed].map(([name, rates]) => [name, String(Math.round(median(rates)))])]
}

function against(way: Way | undefined): string {
  return typeof way?.against === 'number' ? `${way.against} per second` : (way?.against ?? '')
}

function goalText(goal: Row['goal']): string {
  if (goal === undefined) return 'none'
  const { atLeast, atMost, met } = goal
  const wanted =
    atMost === undefined ? `at least ${atLeast.toFixed(2)}` : `${atLeast.toFixed(2)} to ${atMost.toFixed(2)}`
  return `${wanted}: ${met ? 'met' : 'MISSED'}`
}
