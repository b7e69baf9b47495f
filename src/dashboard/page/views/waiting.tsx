import { Filters } from '../parts/filters.tsx'
import { State, Time } from '../parts/small.tsx'
import { given } from '../route.ts'
import type { WaitingRow } from '../wire.ts'
import { RunNowDialog } from './actions.tsx'
import { letterFields, letterFilter } from './letter-fields.ts'
import { ParkedList } from './parked-list.tsx'

export function WaitingPage({ query }: { readonly query: URLSearchParams }) {
  const filter = letterFilter(query)
  return (
    <>
      <header class="page-head">
        <h1>Waiting for another attempt</h1>
      </header>
      <Filters path="waiting" fields={letterFields} given={filter} />
      <ParkedList<WaitingRow>
        of="waiting"
        label="Waiting messages"
        empty="No message waits for another attempt."
        filter={filter}
        after={given(query, ['after'])}
        everyMs={5_000}
        when={{
          title: 'next attempt',
          cell: ({ nextAt, begun }) => (begun > 0 ? <State is="being tried" tone="info" /> : <Time at={nextAt} />),
        }}
        act={['Run now', (dialog) => <RunNowDialog {...dialog} />]}
      />
    </>
  )
}
