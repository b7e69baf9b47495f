import { callFaults } from './faults.ts'
import type { Result } from './simulate.ts'

/** What many runs add up to. Plain data, so that workers can send it. */
export interface Tally {
  seeds: number
  messages: number
  commits: number
  deaths: number
  disasters: number
  /** Records that were removed by their age, and runs that became dead letters because they were too old to know. */
  removed: number
  tooOld: number
  failed: { seed: number; violations: readonly string[] }[]
  steps: string[]
  covered: Record<string, number>
}

export function emptyTally(): Tally {
  return {
    seeds: 0,
    messages: 0,
    commits: 0,
    deaths: 0,
    disasters: 0,
    removed: 0,
    tooOld: 0,
    failed: [],
    steps: [],
    covered: {},
  }
}

export function addResult(tally: Tally, { scenario, violations, world }: Result): void {
  tally.seeds++
  tally.messages += scenario.messages.length
  tally.commits += world.database.commits
  tally.deaths += world.deaths
  tally.disasters += world.disasters
  tally.removed += world.watch?.removed ?? 0
  tally.tooOld += world.watch?.tooOld.size ?? 0
  if (violations.length > 0) tally.failed.push({ seed: scenario.seed, violations })
  for (const [pair, count] of world.faults.covered) tally.covered[pair] = (tally.covered[pair] ?? 0) + count
  tally.steps = [...new Set([...tally.steps, ...world.faults.steps])]
}

export function addTally(into: Tally, from: Tally): void {
  for (const name of ['seeds', 'messages', 'commits', 'deaths', 'disasters', 'removed', 'tooOld'] as const)
    into[name] += from[name]
  into.failed.push(...from.failed)
  for (const [pair, count] of Object.entries(from.covered)) into.covered[pair] = (into.covered[pair] ?? 0) + count
  into.steps = [...new Set([...into.steps, ...from.steps])]
}

export function report(tally: Tally, seconds: number): string {
  const byFault = [...callFaults, 'refused'].map((fault) => {
    const count = Object.entries(tally.covered).reduce(
      (sum, [pair, n]) => sum + (pair.endsWith(` × ${fault}`) ? n : 0),
      0,
    )
    return `${fault} ${count}`
  })
  const pairs = tally.steps.sort().flatMap((step) => callFaults.map((fault) => `${step} × ${fault}`))
  const missed = pairs.filter((pair) => tally.covered[pair] === undefined)
  return [
    `${tally.seeds} seeds in ${seconds.toFixed(0)} s (${(tally.seeds / seconds).toFixed(0)} per second): ${tally.messages} messages, ${tally.commits} commits, ${tally.deaths} process deaths, ${tally.disasters} disasters, ${tally.removed} records removed, ${tally.tooOld} messages too old to know`,
    `faults: ${byFault.join(', ')}`,
    `step × fault: ${pairs.length - missed.length} of ${pairs.length} pairs were hit`,
    ...(missed.length === 0
      ? []
      : [`never hit: ${missed.slice(0, 40).join(', ')}${missed.length > 40 ? ` and ${missed.length - 40} more` : ''}`]),
  ].join('\n')
}
