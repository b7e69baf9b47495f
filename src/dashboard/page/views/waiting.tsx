import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Filters } from '../parts/filters.tsx'
import { Pager } from '../parts/pager.tsx'
import { Code, ErrorText, MessageLink, State, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { given } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { Selection, WaitingRow } from '../wire.ts'
import { ChoiceBar, DiscardDialog, RunNowDialog } from './actions.tsx'
import { letterFields, letterFilter, selectionOf } from './letter-fields.ts'

const size = 50

export function WaitingPage({ query }: { readonly query: URLSearchParams }) {
  const filter = letterFilter(query)
  const after = given(query, ['after'])
  const { data, error, reload } = useAsked<readonly WaitingRow[]>(
    'waiting',
    { ...filter, ...after, limit: size },
    5_000,
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<{ readonly is: 'run-now' | 'discard'; readonly selection: Selection }>()
  const mayOperate = useMay('operate')
  const open = (is: 'run-now' | 'discard', isAll: boolean): void => {
    const rows = data?.filter((row) => chosen.has(nameOf(row))) ?? []
    setOpened({ is, selection: isAll ? selectionOf(filter) : rows.map(({ handler, key }) => ({ handler, key })) })
  }
  const dialog = opened && {
    selection: opened.selection,
    close: () => setOpened(undefined),
    done: () => {
      setChosen(new Set())
      reload()
    },
  }
  return (
    <>
      <header class="page-head">
        <h1>Waiting for another attempt</h1>
      </header>
      <Filters path="waiting" fields={letterFields} given={filter} />
      <Trouble error={error} />
      {mayOperate && data !== undefined && data.length > 0 && (
        <ChoiceBar
          chosen={chosen.size}
          isFiltered={Object.keys(filter).length > 0}
          actions={[
            ['Run now', (isAll) => open('run-now', isAll)],
            ['Discard', (isAll) => open('discard', isAll)],
          ]}
          clear={() => setChosen(new Set())}
        />
      )}
      <Table
        label="Waiting messages"
        rows={data}
        keyOf={nameOf}
        empty="No message waits for another attempt."
        choice={mayOperate ? { chosen, change: setChosen } : undefined}
        columns={[
          { title: 'message', cell: ({ messageId }) => <MessageLink id={messageId} /> },
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
          {
            title: 'next attempt',
            cell: ({ nextAt, begun }) => (begun > 0 ? <State is="being tried" tone="info" /> : <Time at={nextAt} />),
          },
          { title: 'reason', cell: ({ reason }) => <Code text={reason} /> },
          { title: 'error', isWide: true, cell: ({ error: said }) => <ErrorText text={said} /> },
        ]}
      />
      <Pager path="waiting" query={{ ...filter, ...after }} rows={data} size={size} />
      {dialog && opened?.is === 'run-now' && <RunNowDialog {...dialog} />}
      {dialog && opened?.is === 'discard' && <DiscardDialog {...dialog} of="waiting" />}
    </>
  )
}

function nameOf({ handler, key }: WaitingRow): string {
  return `${handler} ${key}`
}
