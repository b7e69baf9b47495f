import { useState } from 'preact/hooks'
import { post } from '../api.ts'
import { count, millis, percent } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Code, State, Trouble } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { link } from '../route.ts'
import { useMay } from '../session.ts'
import { useAsked } from '../use-asked.ts'
import type { Handler } from '../wire.ts'

export function HandlersPage() {
  const { data, error, reload } = useAsked<readonly Handler[]>('handlers', {}, 3_000)
  const [opened, setOpened] = useState<{ readonly name: string; readonly isPaused: boolean }>()
  const mayOperate = useMay('operate')
  return (
    <>
      <header class="page-head">
        <h1>Handlers</h1>
        <span class="muted">rates of the last quarter of an hour</span>
      </header>
      <Trouble error={error} />
      <Table
        label="Handlers"
        rows={data?.filter(({ name }) => !name.startsWith('>'))}
        keyOf={({ name }) => name}
        empty="No handler is known: no process is running, and nothing is parked."
        columns={[
          { title: 'handler', cell: ({ name }) => <Code text={name} /> },
          { title: 'type', cell: ({ types }) => <Code text={types.join(', ')} /> },
          { title: 'state', isWide: true, cell: (handler) => <HandlerState handler={handler} /> },
          { title: 'processes', isNumber: true, cell: ({ processes }) => count(processes.length) },
          { title: 'processed', isNumber: true, cell: ({ counts }) => count(counts.processed) },
          {
            title: 'failed',
            isNumber: true,
            cell: ({ failureRate }) => (
              <span class={(failureRate ?? 0) > 0.05 ? 'bad' : ''}>{percent(failureRate)}</span>
            ),
          },
          { title: 'p50', isNumber: true, cell: ({ p50Ms }) => millis(p50Ms) },
          { title: 'p99', isNumber: true, cell: ({ p99Ms }) => millis(p99Ms) },
          {
            title: 'waiting',
            isNumber: true,
            cell: ({ name, waiting }) => <a href={link('waiting', { handler: name })}>{count(waiting)}</a>,
          },
          {
            title: 'dead',
            isNumber: true,
            cell: ({ name, dead }) => <a href={link('letters', { handler: name })}>{count(dead)}</a>,
          },
          ...(mayOperate
            ? [
                {
                  title: 'actions',
                  cell: ({ name, paused }: Handler) => (
                    <button type="button" onClick={() => setOpened({ name, isPaused: paused !== undefined })}>
                      {paused === undefined ? 'Pause …' : 'Resume …'}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {opened && (
        <Dialog
          title={`${opened.isPaused ? 'Resume' : 'Pause'} ${opened.name}?`}
          action={opened.isPaused ? 'Resume' : 'Pause'}
          close={() => setOpened(undefined)}
          run={async (signed) => {
            await post(`handlers/${opened.isPaused ? 'resume' : 'pause'}`, { handler: opened.name, ...signed })
            reload()
          }}
        >
          <p>
            {opened.isPaused
              ? 'It gets messages again in all processes, within five seconds.'
              : 'It gets no more messages in any process, within five seconds and until somebody resumes it, also after restarts. Messages wait, and no attempt is counted.'}
          </p>
        </Dialog>
      )}
    </>
  )
}

function HandlerState({ handler: { paused, processes } }: { readonly handler: Handler }) {
  const open = processes.filter(({ breaker }) => breaker === 'open').length
  const byApp = processes.filter((each) => each.paused === 'app').length
  if (paused !== undefined)
    return (
      <>
        <State is="paused" />{' '}
        <span class="muted">{`by ${paused.by}${paused.why === '' ? '' : `: ${paused.why}`}`}</span>
      </>
    )
  if (open > 0) return <State is={`breaker open in ${open} of ${processes.length}`} tone="bad" />
  if (byApp > 0) return <State is={`paused by the app in ${byApp}`} tone="warn" />
  return processes.length === 0 ? <State is="not running" /> : <State is="ok" tone="ok" />
}
