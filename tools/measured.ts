import { readFileSync } from 'node:fs'
import { fromRoot } from './repo.ts'

/** One way of working at one distance, as `npm run bench -- network --json` writes it. */
export interface Measured {
  readonly name: string
  readonly rttMs: number
  readonly perSecond: number
  /** Against the way of working that it is compared with. */
  readonly ratio: number
}

/** The run that the pages show. A longer or better one replaces it, and `npm run capacity-sheet` writes the pages again. */
const keptRun = 'bench/results/network.json'

export function readKeptRun(): readonly Measured[] {
  return (JSON.parse(readFileSync(fromRoot(keptRun), 'utf8')) as { readonly rows: readonly Measured[] }).rows
}

export function measuredOf(rows: readonly Measured[], name: string, rttMs: number): Measured {
  const found = rows.find((row) => row.name === name && row.rttMs === rttMs)
  if (found === undefined) throw new Error(`The benchmarks have no ${name} at ${rttMs} ms.`)
  return found
}

export function distancesOf(rows: readonly Measured[]): readonly number[] {
  return [...new Set(rows.map(({ rttMs }) => rttMs))]
}

/** The table of the page of benchmarks. */
export function renderNetworkTable(rows: readonly Measured[]): string {
  const distances = distancesOf(rows)
  const lines = [...new Set(rows.map(({ name }) => name))].map((name) => {
    const cells = distances.map((rttMs) => {
      const { perSecond, ratio } = measuredOf(rows, name, rttMs)
      return ` ${perSecond.toLocaleString('en')} | ${ratio.toFixed(2)} |`
    })
    return `| \`${name}\` |${cells.join('')}`
  })
  return [
    `| name |${distances.map((rttMs) => ` ${rttMs} ms: per second | ratio |`).join('')}`,
    `|---|${distances.map(() => '---:|---:|').join('')}`,
    ...lines,
  ].join('\n')
}

/** Replaces what is between the markers of a part. */
export function withPart(text: string, name: string, part: string): string {
  const between = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end: ${name} -->)`)
  return text.replace(between, (_, before, after) => `${before}\n${part}\n\n${after}`)
}
