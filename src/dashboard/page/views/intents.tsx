import { count } from '../format.ts'
import { type Field, Filters } from '../parts/filters.tsx'
import { Pager } from '../parts/pager.tsx'
import { Code, ErrorText, Panel, State, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { given, link } from '../route.ts'
import { useAsked } from '../use-asked.ts'
import type { IntentCounts, IntentRow } from '../wire.ts'

const size = 50
const fields: readonly Field[] = [
  { name: 'effect', label: 'Effect' },
  { name: 'state', label: 'State', choices: ['pending', 'running', 'waiting', 'unknown', 'given-up'] },
  { name: 'key', label: 'Key' },
  { name: 'idempotencyKey', label: 'Idempotency key', isRare: true },
]

export function IntentsPage({ query }: { readonly query: URLSearchParams }) {
  const filter = given(
    query,
    fields.map(({ name }) => name),
  )
  const after = given(query, ['after'])
  const isPerson = query.get('only') === 'person'
  const asked = { ...filter, ...after, ...(isPerson && { needsPerson: 'true' }), limit: size }
  const { data, error } = useAsked<readonly IntentRow[]>('intents', asked, 5_000)
  const keep: Record<string, string> = isPerson ? { only: 'person' } : {}
  return (
    <>
      <header class="page-head">
        <h1>Intents</h1>
        <nav class="segments" aria-label="Which">
          <a aria-current={isPerson ? undefined : 'page'} href={link('intents', filter)}>
            All
          </a>
          <a aria-current={isPerson ? 'page' : undefined} href={link('intents', { ...filter, only: 'person' })}>
            Waits for a person
          </a>
        </nav>
      </header>
      <Counts />
      <Filters path="intents" fields={fields} given={filter} keep={keep} />
      <Trouble error={error} />
      <Table
        label="Intents"
        rows={data}
        keyOf={({ effect, key }) => `${effect} ${key}`}
        empty={
          isPerson
            ? 'No intent waits for a person.'
            : 'There is no such intent. Those that are done have only a record.'
        }
        columns={[
          { title: 'effect', cell: ({ effect, key }) => <Code text={effect} href={link('intent', { effect, key })} /> },
          { title: 'key', cell: ({ key }) => <Code text={key} /> },
          {
            title: 'state',
            cell: ({ state, needsPerson }) => (
              <>
                <State is={state} /> {needsPerson && <State is="waits for a person" tone="bad" />}
              </>
            ),
          },
          { title: 'calls', isNumber: true, cell: ({ attempts }) => count(attempts) },
          { title: 'intended', cell: ({ intendedAt }) => <Time at={intendedAt} /> },
          { title: 'next', cell: ({ nextAt }) => <Time at={nextAt} /> },
          { title: 'error', isWide: true, cell: ({ error: said }) => <ErrorText text={said} /> },
        ]}
      />
      <Pager path="intents" query={{ ...filter, ...keep, ...after }} rows={data} size={size} />
    </>
  )
}

function Counts() {
  const { data } = useAsked<Readonly<Record<string, IntentCounts>>>('intents/counts', {}, 5_000)
  const rows = data && Object.entries(data).map(([effect, counts]) => ({ effect, ...counts }))
  if (rows === undefined || rows.length === 0) return null
  return (
    <Panel title="By effect">
      <Table
        label="Intents by effect"
        rows={rows}
        keyOf={({ effect }) => effect}
        empty=""
        columns={[
          {
            title: 'effect',
            isWide: true,
            cell: ({ effect }) => <Code text={effect} href={link('intents', { effect })} />,
          },
          { title: 'pending', isNumber: true, cell: ({ pending }) => count(pending) },
          { title: 'waiting', isNumber: true, cell: ({ waiting }) => count(waiting) },
          { title: 'unknown', isNumber: true, cell: ({ unknown }) => count(unknown) },
          { title: 'given up', isNumber: true, cell: ({ givenUp }) => count(givenUp) },
          { title: 'for a person', isNumber: true, cell: ({ needsPerson }) => <strong>{count(needsPerson)}</strong> },
          { title: 'oldest', cell: ({ oldest }) => <Time at={oldest} /> },
        ]}
      />
    </Panel>
  )
}
