import type { Failure } from '../proof.ts'
import { beside, indent, wrap } from './lines.ts'
import { renderDifferences, renderOrders } from './render-differences.ts'
import { renderTimeline } from './render-timeline.ts'

const margin = 16
const width = 88
const placesShown = 4

export function renderFailure(failure: Failure, number: number): string[] {
  const { why, change, where, seen, differences, orders, timeline, alsoAt } = failure
  const paragraphs = [
    beside('What was done', wrap(where, width), margin),
    beside(
      'What was seen',
      [
        ...seen.flatMap((text) => wrap(text, width)),
        ...(orders.length > 0 ? renderOrders(orders) : indent(renderDifferences(differences), 2)),
      ],
      margin,
    ),
    beside('Why it matters', wrap(why, width), margin),
    beside('What to change', wrap(change, width), margin),
    beside('What happened', renderTimeline(timeline), margin),
    beside('The same at', wrap(listed(alsoAt), width), margin),
  ]
  return [
    renderFailureShortly(failure, number),
    '',
    ...indent(
      paragraphs.filter((lines) => lines.length > 0).flatMap((lines) => [...lines, '']),
      4,
    ),
  ]
}

/** `✗ 1 book-payment: The handler writes outside its transaction (writes-outside-tx)` */
export function renderFailureShortly({ name, handlers, title, isAllowed }: Failure, number: number): string {
  const who = handlers.length === 0 ? '' : `${handlers.join(', ')}: `
  return `✗ ${number} ${who}${title} (${name}${isAllowed ? ', allowed' : ''})`
}

function listed(places: readonly string[]): string {
  const shown = places.slice(0, placesShown).join('; ')
  return places.length > placesShown ? `${shown}; and ${places.length - placesShown} more` : shown
}
