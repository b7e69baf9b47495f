import type { OutgoingPage, OutgoingView } from '../operations/index.ts'
import type { Desk } from './operator-command.ts'
import type { GivenOptions, OptionSpec } from './options.ts'
import { agoOf, timeOf } from './output/wording.ts'
import { pageOptions } from './selection-options.ts'

/** Places in a queue are texts. */
export const queuePageOptions = {
  limit: pageOptions.limit,
  after: { kind: 'text', value: 'place', text: 'continues after this place of the list' },
} as const satisfies Record<string, OptionSpec>

export function queuePageFrom(given: GivenOptions): OutgoingPage {
  return { limit: given.number('limit') ?? 50, after: given.text('after') }
}

/** What is in a queue, or waits for a destination. */
export function queuedText(desk: Pick<Desk, 'table'>, queued: readonly OutgoingView[]): string {
  return desk.table(queued, [
    { title: 'place', of: ({ place }) => place },
    { title: 'id', of: ({ id }) => id, cut: true },
    { title: 'type', of: ({ type }) => type, cut: true, spare: true },
    { title: 'tries', of: ({ attempts }) => attempts },
    {
      title: 'published',
      of: ({ publishedAt }) => timeOf(publishedAt),
      short: ({ publishedAt }) => agoOf(publishedAt),
    },
    { title: 'by', of: ({ causedBy }) => causedBy?.handler, cut: true },
    { title: 'for', of: ({ causedBy }) => causedBy?.key, cut: true },
  ])
}
