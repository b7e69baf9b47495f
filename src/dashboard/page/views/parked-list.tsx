import { type ComponentChildren, Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Pager } from '../parts/pager.tsx'
import { Code, ErrorText, MessageLink, Trouble } from '../parts/small.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { ParkedRow, Selection } from '../wire.ts'
import { ChoiceBar, DiscardDialog } from './actions.tsx'
import { selectionOf } from './letter-fields.ts'

const size = 50

/** What is done to the chosen rows, in a dialog. */
export interface DialogOf {
  readonly selection: Selection
  close(): void
  done(): void
}

interface ParkedListProps<Row> {
  /** Where they are asked for, which is the page that shows them, too. */
  readonly of: 'letters' | 'waiting'
  readonly label: string
  readonly empty: string
  readonly filter: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
  /** What the next page keeps of the address. */
  readonly keep?: Readonly<Record<string, string>>
  readonly everyMs: number
  /** When it died, or is due. */
  readonly when: Column<Row>
  readonly more?: readonly Column<Row>[]
  isChoosable?(row: Row): boolean
  /** What can be done besides discarding. */
  readonly act: readonly [label: string, dialog: (props: DialogOf) => ComponentChildren]
}

/** Dead letters and waiting messages: a page of them, to choose from. */
export function ParkedList<Row extends ParkedRow>(props: ParkedListProps<Row>) {
  const { of, label, empty, filter, after, keep = {}, everyMs, when, more = [], isChoosable, act } = props
  const { data, error, reload } = useAsked<readonly Row[]>(of, { ...filter, ...after, limit: size }, everyMs)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<{ readonly is: string; readonly selection: Selection }>()
  const mayOperate = useMay('operate')
  const discard: ParkedListProps<Row>['act'] = ['Discard', (dialog) => <DiscardDialog {...dialog} of={of} />]
  const actions = [act, discard]
  const open = (is: string, isAll: boolean): void => {
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
      <Trouble error={error} />
      {mayOperate && data !== undefined && data.length > 0 && (
        <ChoiceBar
          chosen={chosen.size}
          isFiltered={Object.keys(filter).length > 0}
          actions={actions.map(([name]) => [name, (isAll) => open(name, isAll)] as const)}
          clear={() => setChosen(new Set())}
        />
      )}
      <Table
        label={label}
        rows={data}
        keyOf={nameOf}
        empty={empty}
        choice={mayOperate ? { chosen, change: setChosen, ...(isChoosable && { isChoosable }) } : undefined}
        columns={[
          { title: 'message', cell: ({ messageId }) => <MessageLink id={messageId} /> },
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
          when,
          { title: 'reason', cell: ({ reason }) => <Code text={reason} /> },
          { title: 'error', isWide: true, cell: ({ error: said }) => <ErrorText text={said} /> },
          ...more,
        ]}
      />
      <Pager path={of} query={{ ...filter, ...keep, ...after }} rows={data} size={size} />
      {dialog && actions.map(([name, show]) => <Fragment key={name}>{opened?.is === name && show(dialog)}</Fragment>)}
    </>
  )
}

/** Unique, whatever a key is made of. */
function nameOf({ handler, key }: ParkedRow): string {
  return JSON.stringify([handler, key])
}
