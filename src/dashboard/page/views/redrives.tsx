import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { count, counted } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Code, Facts, Panel, State, Time, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { RedriveStatus } from '../wire.ts'

export function Redrives() {
  const { data, error } = useAsked<readonly RedriveStatus[]>('redrives', {}, 3_000)
  return (
    <>
      <Trouble error={error} />
      <Table
        label="Redrives"
        rows={data}
        keyOf={({ id }) => id}
        empty="Nothing was redriven yet."
        columns={[
          {
            title: 'started',
            cell: ({ id, startedAt }) => <a href={link('redrive', { id })}>{<Time at={startedAt} />}</a>,
          },
          { title: 'state', cell: ({ state }) => <State is={state} /> },
          { title: 'letters', isNumber: true, cell: ({ selected }) => count(selected) },
          { title: 'succeeded', isNumber: true, cell: ({ succeeded }) => count(succeeded) },
          { title: 'failed', isNumber: true, cell: ({ failed }) => count(failed) },
          { title: 'to come', isNumber: true, cell: ({ unreleased }) => count(unreleased) },
          { title: 'by', cell: ({ by }) => <Code text={by} /> },
          { title: 'why', isWide: true, cell: ({ why }) => why },
        ]}
      />
    </>
  )
}

/** How far one redrive is, until it has ended. */
export function RedrivePage({ query }: { readonly query: URLSearchParams }) {
  const id = query.get('id') ?? ''
  const { data, error, reload } = useAsked<RedriveStatus>('redrives/one', { id }, 1_000)
  const [isStopping, setIsStopping] = useState(false)
  const mayOperate = useMay('operate')
  return (
    <>
      <header class="page-head">
        <h1>Redrive</h1>
        {data !== undefined && <State is={data.state} />}
        {data?.state === 'running' && mayOperate && (
          <button type="button" class="danger" onClick={() => setIsStopping(true)}>
            Stop …
          </button>
        )}
      </header>
      <Trouble error={error} />
      {data && <Progress status={data} />}
      {isStopping && (
        <Dialog
          title="Stop the redrive?"
          action="Stop"
          isDangerous
          close={() => setIsStopping(false)}
          run={async (signed) => {
            await post('redrives/stop', { id, ...signed })
            reload()
          }}
        >
          <p>What was already released goes on. The others stay dead letters.</p>
        </Dialog>
      )}
    </>
  )
}

function Progress({ status }: { readonly status: RedriveStatus }) {
  const { selected, succeeded, failed, untried, unreleased } = status
  const parts = [
    ['ok', 'succeeded', succeeded],
    ['bad', 'failed again', failed],
    ['warn', 'released, not tried yet', untried],
    ['plain', 'to come', unreleased],
  ] as const
  return (
    <Panel title={counted(selected, 'dead letter')}>
      <div
        class="progress"
        role="progressbar"
        aria-label="Tried"
        aria-valuemin={0}
        aria-valuemax={selected}
        aria-valuenow={succeeded + failed}
      >
        {parts.map(([tone, label, value]) =>
          value === 0 ? null : <i key={label} class={tone} style={{ flexGrow: value }} title={`${label}: ${value}`} />,
        )}
      </div>
      <ul class="legend">
        {parts.map(([tone, label, value]) => (
          <li key={label}>
            <i class={`swatch ${tone}`} />
            {count(value)} {label}
          </li>
        ))}
      </ul>
      <Facts
        of={[
          ['started', <Time key="s" at={status.startedAt} />],
          ['ended', status.endedAt && <Time at={status.endedAt} />],
          ['by', status.by],
          ['why', status.why !== '' && status.why],
          ['canary', status.canary > 0 && count(status.canary)],
          ['per second', status.perSecond && String(status.perSecond)],
          ['stops after', counted(status.stopAfterFailures, 'failure')],
          ['id', <Code key="id" text={status.id} />],
        ]}
      />
      {status.state === 'running' && (
        <p class="muted">Running apps carry it out. If none is running, it waits for the next one that starts.</p>
      )}
    </Panel>
  )
}
