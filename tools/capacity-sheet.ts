import { readFileSync, writeFileSync } from 'node:fs'
import { fromRoot } from './repo.ts'

/** What was measured, as the page of benchmarks keeps it. */
export interface HeartRun {
  readonly contestants: readonly { readonly name: string; readonly perSecond: number }[]
}

const measured = 'docs/internals/benchmarks.md'

/** The rows `| \`name\` | per second | …` of the page of benchmarks. */
export function readHeartRun(text: string): HeartRun {
  const rows = text.matchAll(/^\| `([\w-]+)` \| ([\d,]+) \|/gm)
  return {
    contestants: [...rows].map(([, name, count]) => ({
      name: String(name),
      perSecond: Number(count?.replaceAll(',', '')),
    })),
  }
}

const page = 'docs/guides/scale.md'
const bytesOfRecord = 187
/** Load is never even, so nobody plans with all of it. */
const plannedShare = 0.5

const rows = [
  ['one-by-one', 'one message at a time'],
  ['handlers', '`app.on`'],
  ['batch', '`onBatch`'],
  ['duplicates', 'only duplicates'],
] as const

export function renderCapacitySheet({ contestants }: HeartRun): string {
  const lines = rows.map(([name, what]) => {
    const perSecond = contestants.find((each) => each.name === name)?.perSecond
    if (perSecond === undefined) throw new Error(`The benchmarks have no ${name}.`)
    const aDay = perSecond * plannedShare * 86_400
    const gigabytes = name === 'duplicates' ? '' : ((aDay * bytesOfRecord) / 1e9).toFixed(1)
    return `| ${what} | ${rounded(perSecond)} | ${rounded(perSecond * plannedShare)} | ${(aDay / 1e6).toFixed(0)} million | ${gigabytes} |`
  })
  return [
    '| way of working | measured, per second | planned, per second | planned, a day | records, GB a day |',
    '|---|---:|---:|---:|---:|',
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
    shouldBe: withCapacitySheet(is, renderCapacitySheet(readHeartRun(readFileSync(fromRoot(measured), 'utf8')))),
  }
}

if (import.meta.main) writeFileSync(fromRoot(page), expectedPage().shouldBe)
