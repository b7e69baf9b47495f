import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { count } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Code, ErrorText, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { Group, Selection } from '../wire.ts'
import { ChoiceBar, DiscardDialog } from './actions.tsx'
import { selectionOf } from './letter-fields.ts'
import { RedriveDialog } from './redrive-dialog.tsx'

type Opened =
  | { readonly is: 'redrive' | 'discard'; readonly selection: Selection }
  | { readonly is: 'note'; readonly group: Group }

/** Dead letters with the same cause are mostly handled together. */
export function Groups({ filter }: { readonly filter: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useAsked<readonly Group[]>('letters/groups', filter, 10_000)
  const [opened, setOpened] = useState<Opened>()
  const mayOperate = useMay('operate')
  const close = (): void => setOpened(undefined)
  const selection = ({ handler, reason, shape }: Group): Selection => selectionOf({ ...filter, handler, reason, shape })
  return (
    <>
      <Trouble error={error} />
      {mayOperate && data !== undefined && data.length > 0 && (
        <ChoiceBar
          chosen={0}
          isFiltered={Object.keys(filter).length > 0}
          actions={[
            ['Redrive', () => setOpened({ is: 'redrive', selection: selectionOf(filter) })],
            ['Discard', () => setOpened({ is: 'discard', selection: selectionOf(filter) })],
          ]}
          clear={() => {}}
        />
      )}
      <Table
        label="Dead letters by cause"
        rows={data}
        keyOf={({ handler, reason, shape }) => `${handler} ${reason} ${shape}`}
        empty={Object.keys(filter).length === 0 ? 'There is no dead letter.' : 'No dead letter matches.'}
        columns={[
          { title: 'count', isNumber: true, cell: (group) => <strong>{count(group.count)}</strong> },
          {
            title: 'error',
            isWide: true,
            cell: ({ handler, reason, shape, note }) => (
              <>
                <a href={link('letters', { ...filter, tab: 'list', handler, reason, shape })}>
                  <ErrorText text={shape === '' ? reason : shape} />
                </a>
                {note !== undefined && <p class="note">{note}</p>}
              </>
            ),
          },
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          { title: 'reason', cell: ({ reason }) => <Code text={reason} /> },
          { title: 'first', cell: ({ firstAt }) => <Time at={firstAt} /> },
          { title: 'last', cell: ({ lastAt }) => <Time at={lastAt} /> },
          ...(mayOperate
            ? [
                {
                  title: 'actions',
                  cell: (group: Group) => (
                    <span class="row-actions">
                      <button type="button" onClick={() => setOpened({ is: 'redrive', selection: selection(group) })}>
                        Redrive …
                      </button>
                      <button type="button" onClick={() => setOpened({ is: 'discard', selection: selection(group) })}>
                        Discard …
                      </button>
                      <button type="button" onClick={() => setOpened({ is: 'note', group })}>
                        Note …
                      </button>
                    </span>
                  ),
                },
              ]
            : []),
        ]}
      />
      {opened?.is === 'redrive' && <RedriveDialog selection={opened.selection} close={close} />}
      {opened?.is === 'discard' && (
        <DiscardDialog selection={opened.selection} of="letters" close={close} done={reload} />
      )}
      {opened?.is === 'note' && <NoteDialog group={opened.group} close={close} done={reload} />}
    </>
  )
}

function NoteDialog({ group, close, done }: { readonly group: Group; close(): void; done(): void }) {
  const { handler, reason, shape, note } = group
  return (
    <Dialog
      title="Note about this cause"
      action="Keep"
      close={close}
      run={async (signed, form) => {
        await post('letters/annotate', {
          group: { handler, reason, shape },
          note: String(form.get('note') ?? ''),
          ...signed,
        })
        done()
      }}
    >
      <p>
        <ErrorText text={shape} />
      </p>
      <label>
        <span>Note. It stays when the dead letters are gone; an empty one removes it.</span>
        <textarea name="note" rows={4} defaultValue={note} />
      </label>
    </Dialog>
  )
}
