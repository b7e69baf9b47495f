import { useEffect, useState } from 'preact/hooks'
import { get, type Refused } from '../api.ts'
import { count } from '../format.ts'
import { type Field, Filters } from '../parts/filters.tsx'
import { Pager } from '../parts/pager.tsx'
import { Code, ErrorText, MessageLink, State, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { given, link } from '../route.ts'
import type { Found } from '../wire.ts'

const size = 50
const states = ['running', 'waiting', 'dead', 'queued', 'outgoing', 'processed', 'expired', 'discarded']
const fields: readonly Field[] = [
  { name: 'id', label: 'Message id or business id', hint: 'order-4711' },
  { name: 'handler', label: 'Handler' },
  { name: 'errorText', label: 'Text of the error' },
  { name: 'state', label: 'State', choices: states },
  { name: 'type', label: 'Type', isRare: true },
  { name: 'since', label: 'Since', kind: 'time', isRare: true },
  { name: 'before', label: 'Before', kind: 'time', isRare: true },
]

export function MessagesPage({ query }: { readonly query: URLSearchParams }) {
  const filter = given(
    query,
    fields.map(({ name }) => name),
  )
  const { rows, error } = useFound(filter, query.get('after') ?? undefined)
  return (
    <>
      <header class="page-head">
        <h1>Messages</h1>
      </header>
      <Filters path="messages" fields={fields} given={filter} />
      <Trouble error={error} />
      <Table
        label="Messages"
        rows={rows}
        keyOf={({ handler, key, state }) => `${state} ${handler} ${key}`}
        empty={
          Object.keys(filter).length === 0
            ? 'No message is running, waiting or dead. Processed ones are found by their id or key.'
            : 'No message was found. Processed messages are found by their id or key only.'
        }
        columns={[
          { title: 'state', cell: ({ state }) => <State is={state} /> },
          { title: 'message', cell: (row) => <MessageLink id={row.messageId ?? row.key} /> },
          {
            title: 'key',
            // That of a delayed message is only a name of its row.
            cell: ({ key, messageId, state }) =>
              key === messageId || state === 'outgoing' || state === 'queued' ? (
                <span class="muted">same</span>
              ) : (
                <Code text={key} />
              ),
          },
          {
            title: 'about',
            cell: ({ businessId }) =>
              businessId && <Code text={businessId} href={link('messages', { id: businessId })} />,
          },
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
          { title: 'since', cell: ({ at }) => <Time at={at} /> },
          { title: 'why', isWide: true, cell: ({ reason, error: said }) => <ErrorText text={said ?? reason} /> },
        ]}
      />
      {(filter.state === 'queued' || filter.state === 'outgoing') && (rows?.length ?? 0) >= size && (
        <p class="muted">
          These are only the first. The overview leads to everything in a queue, and Outgoing to everything that waits
          for a destination.
        </p>
      )}
      <Pager path="messages" query={{ ...filter, ...given(query, ['after']) }} rows={rows} size={size} />
    </>
  )
}

/** One box for all: who looks for a message rarely knows whether an id is its own, its key, or what it is about. */
function useFound(filter: Readonly<Record<string, string>>, after: string | undefined) {
  const [state, setState] = useState<{ rows?: readonly Found[]; error?: Refused }>({})
  const question = JSON.stringify([filter, after])
  useEffect(() => {
    const stopping = new AbortController()
    const { id, ...rest } = filter
    const find = (by: Readonly<Record<string, string>>) =>
      get<readonly Found[]>('messages', { ...rest, ...by, limit: size, after }, stopping.signal)
    const finding = id === undefined ? [find({})] : [find({ id }), find({ key: id }), find({ businessId: id })]
    setState({})
    Promise.all(finding)
      .then((lists) => setState({ rows: withoutTwins(lists.flat()) }))
      .catch((error: Refused) => !stopping.signal.aborted && setState({ rows: [], error }))
    return () => stopping.abort()
  }, [question])
  return state
}

function withoutTwins(rows: readonly Found[]): readonly Found[] {
  const known = new Map<string, Found>()
  for (const row of rows) {
    const name = JSON.stringify([row.handler, row.key])
    // The same row, found by its id, knows its message.
    if (known.get(name)?.messageId === undefined) known.set(name, row)
  }
  return [...known.values()]
}
