import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Filters } from '../parts/filters.tsx'
import { Pager } from '../parts/pager.tsx'
import { Code, ErrorText, MessageLink, State, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { given, link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { LetterRow, Selection } from '../wire.ts'
import { ChoiceBar, DiscardDialog } from './actions.tsx'
import { Groups } from './groups.tsx'
import { letterFields, letterFilter, selectionOf } from './letter-fields.ts'
import { RedriveDialog } from './redrive-dialog.tsx'
import { Redrives } from './redrives.tsx'

const tabs = [
  ['groups', 'By cause'],
  ['list', 'One by one'],
  ['redrives', 'Redrives'],
] as const

export function LettersPage({ query }: { readonly query: URLSearchParams }) {
  const tab = query.get('tab') ?? 'groups'
  const filter = letterFilter(query)
  const path = 'letters'
  const keep: Record<string, string> = tab === 'groups' ? {} : { tab }
  return (
    <>
      <header class="page-head">
        <h1>Dead letters</h1>
        <nav class="segments" aria-label="How to show them">
          {tabs.map(([name, label]) => (
            <a
              key={name}
              aria-current={name === tab ? 'page' : undefined}
              href={link(path, { ...filter, ...(name !== 'groups' && { tab: name }) })}
            >
              {label}
            </a>
          ))}
        </nav>
      </header>
      {tab !== 'redrives' && <Filters path={path} fields={letterFields} given={filter} keep={keep} />}
      {filter.shape !== undefined && (
        <p class="note">
          Only the cause <code>{filter.shape}</code>
        </p>
      )}
      {tab === 'groups' && <Groups filter={filter} />}
      {tab === 'list' && <List filter={filter} after={given(query, ['after'])} />}
      {tab === 'redrives' && <Redrives />}
    </>
  )
}

const size = 50

function List(props: {
  readonly filter: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
}) {
  const { filter, after } = props
  const { data, error, reload } = useAsked<readonly LetterRow[]>('letters', { ...filter, ...after, limit: size }, 0)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<{ readonly is: 'redrive' | 'discard'; readonly selection: Selection }>()
  const mayOperate = useMay('operate')
  const open = (is: 'redrive' | 'discard', isAll: boolean): void => {
    const rows = data?.filter((row) => chosen.has(nameOf(row))) ?? []
    setOpened({ is, selection: isAll ? selectionOf(filter) : rows.map(({ handler, key }) => ({ handler, key })) })
  }
  const done = (): void => {
    setChosen(new Set())
    reload()
  }
  return (
    <>
      <Trouble error={error} />
      {mayOperate && data !== undefined && data.length > 0 && (
        <ChoiceBar
          chosen={chosen.size}
          isFiltered={Object.keys(filter).length > 0}
          actions={[
            ['Redrive', (isAll) => open('redrive', isAll)],
            ['Discard', (isAll) => open('discard', isAll)],
          ]}
          clear={() => setChosen(new Set())}
        />
      )}
      <Table
        label="Dead letters"
        rows={data}
        keyOf={nameOf}
        empty="There is no such dead letter."
        choice={
          mayOperate ? { chosen, change: setChosen, isChoosable: ({ redrive }) => redrive === undefined } : undefined
        }
        columns={[
          { title: 'message', cell: ({ messageId }) => <MessageLink id={messageId} /> },
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
          { title: 'died', cell: ({ diedAt }) => <Time at={diedAt} /> },
          { title: 'reason', cell: ({ reason }) => <Code text={reason} /> },
          { title: 'error', isWide: true, cell: ({ error: said }) => <ErrorText text={said} /> },
          {
            title: '',
            cell: ({ redrive, edited }) => (
              <>
                {redrive !== undefined && <State is="in a redrive" tone="info" />}
                {edited && <State is="edited" />}
              </>
            ),
          },
        ]}
      />
      <Pager path="letters" query={{ ...filter, tab: 'list', ...after }} rows={data} size={size} />
      {opened?.is === 'redrive' && <RedriveDialog selection={opened.selection} close={() => setOpened(undefined)} />}
      {opened?.is === 'discard' && (
        <DiscardDialog selection={opened.selection} of="letters" close={() => setOpened(undefined)} done={done} />
      )}
    </>
  )
}

function nameOf({ handler, key }: LetterRow): string {
  return `${handler} ${key}`
}
