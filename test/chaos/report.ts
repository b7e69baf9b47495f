import { faults } from './faults.ts'
import type { ChaosResult } from './result.ts'

const rows: readonly (readonly [title: string, value: (result: ChaosResult) => number])[] = [
  ['seconds', ({ seconds }) => Math.round(seconds)],
  ['messages', ({ messages }) => messages],
  ['sent, with repeats', ({ copies }) => copies],
  ['deliveries, with follow-ups', ({ deliveries }) => deliveries],
  ['duplicates recognised', ({ duplicates }) => duplicates],
  ['attempts that failed', ({ parked }) => parked],
  ...faults.map(({ kind, title }) => [title, (result: ChaosResult) => result.faults[kind]] as const),
  ['effects', ({ effects }) => effects],
  ['lost', ({ verdict }) => verdict.lost.length],
  ['torn', ({ verdict }) => verdict.torn.length],
  ['doubled', ({ verdict }) => verdict.doubled.length],
  ['not done in the end', ({ stuck }) => (stuck === undefined ? 0 : stuck.queued + stuck.outgoing + stuck.parked)],
  ['processes that misbehaved', ({ problems }) => problems.length],
]

export function report(results: readonly ChaosResult[]): string {
  const places = results.map(({ place }) => place)
  const counts = rows.map(([title, value]) => [title, ...results.map((result) => value(result).toLocaleString('en'))])
  const times = faults.map(({ kind, title }) => [title, ...results.map((result) => timesOf(result, kind))])
  return [
    table([['', ...places], ...counts]),
    'From the end of a fault to the first commit of the process that it hit, median / worst in ms:',
    table([['', ...places], ...times.filter(([, ...cells]) => cells.some((cell) => cell !== ''))]),
    ...results.flatMap(details),
  ].join('\n\n')
}

function timesOf({ recoveries }: ChaosResult, wanted: string): string {
  const times = recoveries.find(({ kind }) => kind === wanted)
  if (times === undefined) return ''
  return `${times.medianMs.toLocaleString('en')} / ${times.worstMs.toLocaleString('en')}`
}

const named = 20

function details({ place, verdict, problems }: ChaosResult): string[] {
  const damage = Object.entries(verdict).filter(([, messages]) => messages.length > 0)
  return [
    ...damage.map(([what, messages]) => `${place}: ${what}: ${messages.slice(0, named).join(' ')}`),
    ...problems.map((problem) => `${place}: ${problem}`),
  ]
}

function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const aligned = (line: readonly string[]): string =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('   ')
  return lines.map((line) => aligned(line).trimEnd()).join('\n')
}
