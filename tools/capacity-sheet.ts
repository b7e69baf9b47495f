import { readFileSync, writeFileSync } from 'node:fs'
import {
  type Measured,
  measuredOf,
  readKeptLatency,
  readKeptRun,
  renderCpuTable,
  renderLatencyTable,
  renderNetworkTable,
  withPart,
} from './measured.ts'
import { fromRoot } from './repo.ts'

const bytesOfRecord = 187
/** Load is never even, so nobody plans with all of it. */
const plannedShare = 0.5

const rows = [
  ['handlers-1-in-flight', 'one message at a time'],
  ['handlers', '`app.on`, messages without a key'],
  ['handlers-key', '`app.on`, messages with a key'],
  ['handlers-interleaved', '`app.on` with `interleave`'],
  ['batch', '`onBatch`'],
  ['duplicates', 'only duplicates'],
] as const

export function renderCapacitySheet(found: readonly Measured[]): string {
  const lines = rows.map(([name, what]) => {
    const near = measuredOf(found, name, 0).perSecond
    const away = measuredOf(found, name, 0.5).perSecond
    const aDay = near * plannedShare * 86_400
    const gigabytes = name === 'duplicates' ? '' : ((aDay * bytesOfRecord) / 1e9).toFixed(1)
    return `| ${what} | ${rounded(near)} | ${rounded(away)} | ${rounded(near * plannedShare)} | ${Math.round(aDay / 1e6).toLocaleString('en')} million | ${gigabytes} |`
  })
  return [
    '| way of working | measured, per second | 0.5 ms away | planned, per second | planned, a day | records, GB a day |',
    '|---|---:|---:|---:|---:|---:|',
    ...lines,
  ].join('\n')
}

function rounded(value: number): string {
  return (Math.round(value / 10) * 10).toLocaleString('en')
}

/** The pages that are written from the run that is kept, and what they should be. */
export function expectedPages(): readonly { readonly path: string; readonly is: string; readonly shouldBe: string }[] {
  const run = readKeptRun()
  const pages = {
    'docs/internals/benchmarks.md': {
      network: renderNetworkTable(run),
      latency: renderLatencyTable(readKeptLatency()),
      cpu: renderCpuTable(run),
    },
    'docs/guides/scale.md': { capacity: renderCapacitySheet(run) },
  }
  return Object.entries(pages).map(([path, parts]) => {
    const is = readFileSync(fromRoot(path), 'utf8')
    const shouldBe = Object.entries(parts).reduce((text, [name, part]) => withPart(text, name, part), is)
    return { path, is, shouldBe }
  })
}

if (import.meta.main) for (const { path, shouldBe } of expectedPages()) writeFileSync(fromRoot(path), shouldBe)
