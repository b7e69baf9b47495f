import { count } from '../format.ts'
import { Code, MessageLink, Panel, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { link } from '../route.ts'
import { useAsked } from '../use-asked.ts'
import type { OutgoingRow } from '../wire.ts'

const size = 50

interface QueuedMessagesProps {
  readonly title: string
  /** Where the rows are asked for, and the page that shows them; both with the same query. */
  readonly path: string
  readonly page: string
  readonly query: Readonly<Record<string, string>>
  /** The place after which this page begins. */
  readonly after: string | undefined
}

/** What is in a queue, or waits for a destination. Looking takes nothing away from those who read or send it. */
export function QueuedMessages({ title, path, page, query, after }: QueuedMessagesProps) {
  const asked = { ...query, limit: size, ...(after !== undefined && { after }) }
  const { data, error } = useAsked<readonly OutgoingRow[]>(path, asked, 10_000)
  const last = data?.at(-1)?.place
  const hasMore = data?.length === size && last !== undefined
  return (
    <Panel title={title}>
      <Trouble error={error} />
      <Table
        label={title}
        rows={data}
        keyOf={({ place, id }) => `${place} ${id}`}
        empty="Nothing waits there."
        columns={[
          { title: 'message', cell: ({ id }) => <MessageLink id={id} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'about', cell: ({ businessId }) => <Code text={businessId} /> },
          { title: 'published by', cell: ({ causedBy }) => <Code text={causedBy?.handler} /> },
          { title: 'for', isWide: true, cell: ({ causedBy }) => causedBy?.key && <MessageLink id={causedBy.key} /> },
          { title: 'attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
          { title: 'published', cell: ({ publishedAt }) => <Time at={publishedAt} /> },
        ]}
      />
      {(after !== undefined || hasMore) && (
        <nav class="pager" aria-label="Pages of what waits">
          {after !== undefined && (
            <a class="button" href={link(page, query)}>
              First page
            </a>
          )}
          {hasMore && (
            <a class="button" href={link(page, { ...query, place: last })}>
              Next page
            </a>
          )}
        </nav>
      )}
    </Panel>
  )
}

/** Everything that is in one queue of the store. */
export function QueuePage({ query }: { readonly query: URLSearchParams }) {
  const queue = query.get('queue') ?? ''
  return (
    <>
      <header class="page-head">
        <h1>Queue</h1>
        <span class="muted">of the store, the oldest first</span>
      </header>
      <QueuedMessages
        title={`In queue ${queue}`}
        path="messages/queued"
        page="queue"
        query={{ queue }}
        after={query.get('place') ?? undefined}
      />
    </>
  )
}
