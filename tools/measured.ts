import { readFileSync } from 'node:fs'
import { fromRoot } from './repo.ts'

/** One way of working at one distance, as `npm run bench -- network --json` writes it. */
export interface Measured {
  readonly name: string
  readonly rttMs: number
  readonly perSecond: number
  /** Against the way of working that it is compared with. */
  readonly ratio: number
  /** For each delivery, in microseconds. */
  readonly cpu?: { readonly here: number; readonly server: number }
}

/** The run that the pages show. A longer or better one replaces it, and `npm run capacity-sheet` writes the pages again. */
const keptRun = 'bench/results/network.json'

export function readKeptRun(): readonly Measured[] {
  return kept().rows
}

export function readKeptLatency(): readonly Latency[] {
  return kept().latency
}

function kept() {
  const text = readFileSync(fromRoot(keptRun), 'utf8')
  return JSON.parse(text) as { readonly rows: readonly Measured[]; readonly latency: readonly Latency[] }
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

/** How long messages took from when they were due until they were settled. */
export interface Latency {
  readonly name: string
  readonly rttMs: number
  /** The share of the rate that the way of working sustains. */
  readonly share: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** p50 and p99 at each distance and share. */
export function renderLatencyTable(found: readonly Latency[]): string {
  const columns = [
    ...new Map(found.map(({ rttMs, share }) => [`${rttMs} ms, ${Math.round(share * 100)} %`, { rttMs, share }])),
  ]
  const lines = [...new Set(found.map(({ name }) => name))].map((name) => {
    const cells = columns.map(([, { rttMs, share }]) => {
      const each = found.find((row) => row.name === name && row.rttMs === rttMs && row.share === share)
      return each === undefined ? ' |' : ` ${each.p50Ms.toFixed(1)} / ${each.p99Ms.toFixed(0)} |`
    })
    return `| \`${name}\` |${cells.join('')}`
  })
  return [
    `| name |${columns.map(([title]) => ` ${title} |`).join('')}`,
    `|---|${columns.map(() => '---:|').join('')}`,
    ...lines,
  ].join('\n')
}

/** CPU for each delivery, of this process and of the server, without a network in between. */
export function renderCpuTable(rows: readonly Measured[]): string {
  const lines = rows.flatMap(({ name, rttMs, cpu }) =>
    rttMs > 0 || cpu === undefined ? [] : `| \`${name}\` | ${cpu.here} | ${cpu.server} |`,
  )
  return ['| name | here, µs | Postgres, µs |', '|---|---:|---:|', ...lines].join('\n')
}

/** Replaces what is between the markers of a part. */
export function withPart(text: string, name: string, part: string): string {
  const between = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end: ${name} -->)`)
  return text.replace(between, (_, before, after) => `${before}\n${part}\n\n${after}`)
}
