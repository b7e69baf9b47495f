import { count, millis, rate, span } from '../format.ts'
import { Code, MessageLink, Panel, State } from '../parts/small.tsx'
import { Table } from '../parts/table.tsx'
import { link } from '../route.ts'
import type { Process } from '../wire.ts'

/** Two heartbeats missed. One that has died is listed for half a minute. */
const silentMs = 12_000

/** What every process says about itself every few seconds. */
export function Processes({ processes }: { readonly processes: readonly Process[] | undefined }) {
  // By what the others said last: the clock of whoever looks may be another.
  const latest =
    processes
      ?.map(({ reportedAt }) => reportedAt)
      .toSorted()
      .at(-1) ?? ''
  return (
    <Panel
      title="Processes"
      aside={<span class="muted">{processes === undefined ? '' : count(processes.length)}</span>}
    >
      <Table
        label="Processes"
        rows={processes}
        keyOf={({ id }) => id}
        empty="No process that writes heartbeats is running."
        columns={[
          {
            title: 'process',
            cell: ({ id, app, host, pid, reportedAt, trouble = [] }) => (
              <>
                <a href={link('', { process: id })}>{`${app ?? ''} ${host}/${pid}`.trim()}</a>{' '}
                {since(reportedAt, latest) > silentMs && (
                  <State is={`silent for ${span(since(reportedAt, latest))}`} tone="warn" />
                )}
                {trouble.map(({ name, message }) => (
                  <span key={name} title={message}>
                    <State is={`cannot read ${name}`} tone="bad" />
                  </span>
                ))}
              </>
            ),
          },
          { title: 'up', isNumber: true, cell: ({ startedAt, reportedAt }) => span(since(startedAt, reportedAt)) },
          { title: 'duties', isWide: true, cell: ({ duties }) => duties.join(', ') },
          { title: 'running', isNumber: true, cell: ({ runningCount }) => count(runningCount) },
          { title: 'processed / s', isNumber: true, cell: ({ now }) => rate(now.processed) },
          { title: 'failed / s', isNumber: true, cell: ({ now }) => rate(now.failed) },
          { title: '99 of 100 take', isNumber: true, cell: ({ now }) => millis(now.p99Ms) },
          { title: 'version', cell: ({ version, node }) => <span title={`Node ${node}`}>{version}</span> },
          {
            title: 'clock',
            cell: ({ clockAheadMs }) =>
              Math.abs(clockAheadMs) < 2_000 ? (
                'right'
              ) : (
                <State is={`${span(clockAheadMs)} ${clockAheadMs > 0 ? 'ahead' : 'behind'}`} tone="warn" />
              ),
          },
        ]}
      />
    </Panel>
  )
}

const mostShown = 10

/** The calls that have been running longest: an uncommitted run is visible nowhere else. */
export function RunningNow({
  processes,
  only,
}: {
  readonly processes: readonly Process[] | undefined
  readonly only: string
}) {
  const asked = processes?.filter(({ id }) => only === '' || id === only)
  const calls = asked
    ?.flatMap(({ host, pid, reportedAt, running }) =>
      running.map((call) => ({ ...call, where: `${host}/${pid}`, forMs: since(call.since, reportedAt) })),
    )
    .toSorted((a, b) => b.forMs - a.forMs)
  const all = asked?.reduce((sum, { runningCount }) => sum + runningCount, 0) ?? 0
  return (
    <Panel title="Running now" aside={<span class="muted">{count(all)}</span>}>
      <Table
        label="Running now"
        rows={calls?.slice(0, mostShown)}
        keyOf={({ handler, key, where }) => `${where} ${handler} ${key}`}
        empty="Nothing is running at this moment."
        columns={[
          { title: 'handler', cell: ({ handler }) => <Code text={handler} /> },
          { title: 'message', isWide: true, cell: ({ messageId }) => <MessageLink id={messageId} /> },
          { title: 'attempt', isNumber: true, cell: ({ attempt }) => attempt },
          { title: 'for', isNumber: true, cell: ({ forMs }) => millis(forMs) },
          { title: 'where', cell: ({ where }) => <Code text={where} /> },
        ]}
      />
    </Panel>
  )
}

function since(earlier: string, later: string): number {
  return Math.max(0, Date.parse(later) - Date.parse(earlier))
}
