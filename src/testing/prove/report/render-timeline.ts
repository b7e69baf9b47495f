import type { TimelineEntry } from '../journal.ts'
import { oneLine } from '../steps.ts'

const entriesShown = 40

const markers: Readonly<Record<TimelineEntry['kind'], string>> = {
  delivery: '',
  step: '   ',
  return: '   ',
  outside: ' → ',
  fault: ' ✗ ',
  process: '↻ ',
}

/** One line for each event. If there was more than one process, they are called A and B. */
export function renderTimeline(timeline: readonly TimelineEntry[]): string[] {
  const several = timeline.some(({ process }) => process > 1)
  const queries = new Map<number, number>()
  const lines = timeline.map((entry) => {
    const who = several ? `${String.fromCharCode(64 + entry.process)}  ` : ''
    return `${who}${markers[entry.kind]}${renderEntry(entry, queries)}`
  })
  if (lines.length <= entriesShown) return lines
  const half = entriesShown / 2
  return [...lines.slice(0, half), `… ${lines.length - entriesShown} more …`, ...lines.slice(-half)]
}

/** Queries are numbered as in the table, starting at the claim. */
function renderEntry({ process, kind, text, step }: TimelineEntry, queries: Map<number, number>): string {
  if (step === undefined) return text
  if (kind === 'fault') return `${text} ${step.kind} ${oneLine(step.text)}`.trimEnd()
  if (step.kind === 'claim') queries.set(process, 0)
  if (step.kind !== 'query') return step.text === '' ? step.kind : `${step.kind}  ${step.text}`
  const number = (queries.get(process) ?? 0) + 1
  queries.set(process, number)
  return `query ${number}  ${oneLine(step.text)}${text === '' ? '' : `   [${text}]`}`
}
