import type { TimelineEntry } from '../journal.ts'
import type { Failure } from '../proof.ts'
import { beside, indent, wrap } from './lines.ts'
import { renderDifferences } from './render-differences.ts'

const margin = 17
const width = 84

export function renderFailure(failure: Failure, number: number): string[] {
  const { name, handlers, title, why, change, where, seen, differences, timeline, alsoAt, isAllowed } = failure
  const allowed = isAllowed ? '   (allowed)' : ''
  const paragraphs = [
    beside('What was done', wrap(capital(where), width), margin),
    beside(
      'What was seen',
      [...seen.flatMap((text) => wrap(text, width)), ...indent(renderDifferences(differences), 2)],
      margin,
    ),
    beside('Why it matters', wrap(why, width), margin),
    beside('What to change', wrap(change, width), margin),
    timeline.length === 0 ? [] : beside('Step by step', renderTimeline(timeline), margin),
    alsoAt.length === 0 ? [] : beside('The same at', wrap(listed(alsoAt), width), margin),
  ]
  return [
    `✗ ${number}  ${title}${allowed}`,
    `     ${[name, ...handlers].join(' · ')}`,
    '',
    ...indent(
      paragraphs.filter((lines) => lines.length > 0).flatMap((lines) => [...lines, '']),
      5,
    ),
  ]
}

const entriesShown = 40

function renderTimeline(timeline: readonly TimelineEntry[]): string[] {
  const several = timeline.some(({ process }) => process > 1)
  const lines = timeline.map(({ process, kind, text }) => {
    const who = several ? `${process === 1 ? 'A' : 'B'} ` : ''
    const marker = kind === 'fault' ? '✗ ' : kind === 'process' ? '↻ ' : kind === 'step' ? '    ' : ''
    return `${who}${marker}${text}`
  })
  if (lines.length <= entriesShown) return lines
  const half = entriesShown / 2
  return [...lines.slice(0, half), `… ${lines.length - entriesShown} more …`, ...lines.slice(-half)]
}

function listed(places: readonly string[]): string {
  const shown = places.slice(0, 6).join('; ')
  return places.length > 6 ? `${shown}; and ${places.length - 6} more` : shown
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
