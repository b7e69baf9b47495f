import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { count, span } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Pager } from '../parts/pager.tsx'
import { Code, Panel, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { given, link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { Delayed, Outgoing } from '../wire.ts'
import { QueuedMessages } from './queued.tsx'
import { RedriveDialog } from './redrive-dialog.tsx'

const size = 50

export function OutgoingPage({ query }: { readonly query: URLSearchParams }) {
  const { data, error } = useAsked<Outgoing>('outgoing', {}, 5_000)
  const destination = query.get('destination')
  return (
    <>
      <header class="page-head">
        <h1>Outgoing</h1>
      </header>
      <Trouble error={error} />
      <div class="columns">
        <Panel title="Not sent yet">
          <Table
            label="Not sent yet"
            rows={data && Object.entries(data.waiting).map(([name, each]) => ({ name, ...each }))}
            keyOf={({ name }) => name}
            empty="Everything that was published has been sent."
            columns={[
              {
                title: 'destination',
                isWide: true,
                cell: ({ name }) => <Code text={name} href={link('outgoing', { destination: name })} />,
              },
              { title: 'ready', isNumber: true, cell: ({ ready }) => count(ready) },
              { title: 'taken', isNumber: true, cell: ({ hidden }) => count(hidden) },
              { title: 'oldest', isNumber: true, cell: ({ oldestMs }) => span(oldestMs) },
            ]}
          />
        </Panel>
        <Refused rows={data?.refused} />
      </div>
      {destination && (
        <QueuedMessages
          title={`Waiting for ${destination}`}
          path="outgoing/waiting"
          page="outgoing"
          query={{ destination }}
          after={query.get('place') ?? undefined}
        />
      )}
      <DelayedMessages after={given(query, ['after'])} />
    </>
  )
}

function Refused({ rows }: { readonly rows: Outgoing['refused'] | undefined }) {
  const [opened, setOpened] = useState<string>()
  const mayOperate = useMay('operate')
  return (
    <Panel title="Refused for good">
      <Table
        label="Refused for good"
        rows={rows}
        keyOf={({ name }) => name}
        empty="No destination has refused a message for good."
        columns={[
          {
            title: 'destination',
            isWide: true,
            cell: ({ name }) => <Code text={name.slice(1)} href={link('letters', { tab: 'list', handler: name })} />,
          },
          { title: 'dead letters', isNumber: true, cell: ({ dead }) => count(dead) },
          {
            title: 'actions',
            cell: ({ name }) =>
              mayOperate && (
                <button type="button" onClick={() => setOpened(name)}>
                  Send again …
                </button>
              ),
          },
        ]}
      />
      {opened !== undefined && <RedriveDialog selection={{ handler: opened }} close={() => setOpened(undefined)} />}
    </Panel>
  )
}

function DelayedMessages({ after }: { readonly after: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useAsked<readonly Delayed[]>('outgoing/delayed', { ...after, limit: size }, 10_000)
  const [cancelling, setCancelling] = useState<string>()
  const mayOperate = useMay('operate')
  return (
    <Panel title="Delayed until their time">
      <Trouble error={error} />
      <Table
        label="Delayed messages"
        rows={data}
        keyOf={({ sequence }) => String(sequence)}
        empty="No message leaves later."
        columns={[
          { title: 'message', cell: ({ id }) => <Code text={id} href={link('message', { id })} /> },
          { title: 'type', cell: ({ type }) => <Code text={type} /> },
          { title: 'to', isWide: true, cell: ({ destination }) => <Code text={destination} /> },
          { title: 'leaves', cell: ({ dueAt }) => <Time at={dueAt} /> },
          { title: 'published', cell: ({ publishedAt }) => <Time at={publishedAt} /> },
          {
            title: 'actions',
            cell: ({ id }) =>
              mayOperate && (
                <button type="button" onClick={() => setCancelling(id)}>
                  Cancel …
                </button>
              ),
          },
        ]}
      />
      <Pager path="outgoing" query={after} rows={data} size={size} />
      {cancelling !== undefined && (
        <Dialog
          title="Cancel this message?"
          action="Cancel the message"
          isDangerous
          close={() => setCancelling(undefined)}
          run={async (signed) => {
            await post('outgoing/cancel', { id: cancelling, ...signed })
            reload()
          }}
        >
          <p>
            <code>{cancelling}</code> will never leave.
          </p>
        </Dialog>
      )}
    </Panel>
  )
}
