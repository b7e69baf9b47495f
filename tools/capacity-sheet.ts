import { readFileSync, writeFileSync } from 'node:fs'
import { fromRoot } from './repo.ts'

/** What was measured of one way of working, as the page of benchmarks keeps it. */
export interface Measured {
  readonly name: string
  readonly near: number
  readonly halfMillisecond: number
}

const measured = 'docs/internals/benchmarks.md'

/** The rows `| name | per second | ratio |`, three times for three distances, of `npm run bench -- network`. */
export function readMeasured(text: string): readonly Measured[] {
  const number = '([\\d,.]+)'
  const row = new RegExp(`^\\| \`([\\w-]+)\` \\|${` ${number} \\|`.repeat(6)}$`, 'gm')
  return [...text.matchAll(row)].map(([, name = '', near, , halfMillisecond]) => ({
    name,
    near: Number(near?.replaceAll(',', '')),
    halfMillisecond: Number(halfMillisecond?.replaceAll(',', '')),
  }))
}

const page = 'docs/guides/scale.md'
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
    const row = found.find((each) => each.name === name)
    if (row === undefined) throw new Error(`The benchmarks have no ${name}.`)
    const aDay = row.near * plannedShare * 86_400
    const gigabytes = name === 'duplicates' ? '' : ((aDay * bytesOfRecord) / 1e9).toFixed(1)
    return `| ${what} | ${rounded(row.near)} | ${rounded(row.halfMillisecond)} | ${rounded(row.near * plannedShare)} | ${Math.round(aDay / 1e6).toLocaleString('en')} million | ${gigabytes} |`
  })
  return [
    '| way of working | measured, per second | 0.5 ms away | planned, per second | planned, a day | records, GB a day |',
    '|---|---:|---:|---:|---:|---:|',
    ...lines,
  ].join('\n')
}

export function withCapacitySheet(text: string, sheet: string): string {
  const between = /(<!-- generated: capacity -->\n)[\s\S]*?(<!-- end: capacity -->)/
  return text.replace(between, (_, before, after) => `${before}\n${sheet}\n\n${after}`)
}

function rounded(value: number): string {
  return (Math.round(value / 10) * 10).toLocaleString('en')
}

/** What the page should be, from what was measured. */
export function expectedPage(): { readonly path: string; readonly is: string; readonly shouldBe: string } {
  const is = readFileSync(fromRoot(page), 'utf8')
  return {
    path: page,
    is,
    shouldBe: withCapacitySheet(is, renderCapacitySheet(readMeasured(readFileSync(fromRoot(measured), 'utf8')))),
  }
}

if (import.meta.main) writeFileSync(fromRoot(page), expectedPage().shouldBe)
