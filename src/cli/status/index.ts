import type { AlertView, HandlerView, Overview, ProcessView } from '../../operations/index.ts'
import { type Desk, operatorCommand } from '../operator-command.ts'
import { agoOf, counted, millis, percent, rate, sizeOf, spanOf, timeOf } from '../output/wording.ts'

export const statusCommand = operatorCommand(
  { name: 'status', summary: 'shows what runs, how fast it is, and what waits' },
  {
    name: '',
    summary: 'shows what runs, how fast it is, and what waits',
    options: { minutes: { kind: 'number', text: 'of history in the JSON. Default: 60' } },
    async run(desk) {
      const { operations, given } = desk
      const overview = await operations.overview({ minutes: given.number('minutes') ?? 60 })
      const processes = await operations.processes()
      const handlers = await operations.handlers.list()
      const alerts = await operations.alerts()
      desk.show({ overview, alerts, processes, handlers }, () =>
        [
          overviewText(overview),
          alertsText(desk, alerts),
          processesText(desk, processes),
          runningText(desk, processes),
          handlersText(desk, handlers),
        ]
          .filter((text) => text !== '')
          .join('\n'),
      )
      return 0
    },
  },
)

function overviewText({
  store,
  processes,
  now,
  parked,
  intents,
  delayed,
  queues,
  brokers,
  outgoing,
  records,
  horizon,
}: Overview): string {
  const lines = [
    `${store.name}: ${counted(processes, 'process', 'processes')} running`,
    `per second: ${rate(now.processed)} processed, ${rate(now.duplicates)} duplicates, ${rate(now.failed)} failed, ${rate(now.retried)} retried, ${rate(now.sent)} sent`,
    ...(now.p50Ms === undefined
      ? []
      : [`handlers take ${millis(now.p50Ms)} (half of the calls), ${millis(now.p99Ms)} (99 of 100)`]),
    `${counted(parked.waiting, 'message')} waiting for another attempt, ${counted(parked.dead, 'dead letter')}, ${delayed} delayed`,
  ]
  if (intents.waiting + intents.dead > 0) lines.push(`intents: ${intents.waiting} open, ${intents.dead} for a person`)
  for (const [name, { ready, hidden, oldestMs }] of Object.entries(queues))
    lines.push(
      `queue ${name}: ${ready} ready, ${hidden} taken${oldestMs === undefined ? '' : `, oldest ${spanOf(oldestMs)}`}`,
    )
  for (const [name, waiting] of Object.entries(brokers)) lines.push(`${name}: ${counted(waiting, 'message')} waiting`)
  for (const [name, { ready, hidden, oldestMs }] of Object.entries(outgoing))
    lines.push(
      `to ${name}: ${ready + hidden} not sent yet${oldestMs === undefined ? '' : `, oldest ${spanOf(oldestMs)}`}`,
    )
  if (records !== undefined) lines.push(recordsLine(records))
  if (horizon !== undefined) lines.push(`records reach back to ${timeOf(horizon)}`)
  return lines.map((line) => `${line}\n`).join('')
}

function recordsLine({ rows, bytes, of }: NonNullable<Overview['records']>): string {
  const room = bytes === undefined ? [] : [sizeOf(bytes)]
  if (of !== 'database')
    return [rows === undefined ? 'records' : `about ${counted(rows, 'record')}`, ...room].join(', ')
  return `database: ${[...(rows === undefined ? [] : [counted(rows, 'key')]), ...room].join(', ')}, records and everything else`
}

function alertsText(desk: Desk, alerts: readonly AlertView[]): string {
  if (alerts.length === 0) return ''
  return desk.table(alerts, [
    { title: 'alert', of: ({ rule, app }) => (app === undefined ? rule : `${rule} of ${app}`), cut: true },
    { title: 'phase', of: ({ phase }) => phase },
    { title: 'value', of: ({ value }) => shortened(value) },
    { title: 'limit', of: ({ over }) => shortened(over) },
    { title: 'since', of: ({ since }) => timeOf(since), short: ({ since }) => agoOf(since) },
    { title: 'looked at', of: ({ seenAt }) => timeOf(seenAt), short: ({ seenAt }) => agoOf(seenAt) },
  ])
}

/** Counts and milliseconds are whole, shares are not. */
function shortened(value: number): number {
  return value >= 1 ? Math.round(value) : Number(value.toPrecision(3))
}

function processesText(desk: Desk, processes: readonly ProcessView[]): string {
  if (processes.length === 0) return 'No process that writes heartbeats is running.\n'
  return desk.table(processes, [
    { title: 'process', of: ({ app, host, pid }) => `${app === undefined ? '' : `${app} `}${host}/${pid}`, cut: true },
    { title: 'up', of: ({ startedAt, reportedAt }) => spanOf(reportedAt.getTime() - startedAt.getTime()) },
    { title: 'duties', of: ({ duties }) => duties.join(','), cut: true },
    { title: 'running', of: ({ runningCount }) => runningCount },
    { title: 'per s', of: ({ now }) => rate(now.processed) },
    { title: 'p99', of: ({ now }) => millis(now.p99Ms) },
  ])
}

function runningText(desk: Desk, processes: readonly ProcessView[]): string {
  const calls = processes.flatMap(({ host, pid, reportedAt, running }) =>
    running.map((call) => ({ ...call, where: `${host}/${pid}`, forMs: reportedAt.getTime() - call.since.getTime() })),
  )
  const longest = calls.toSorted((a, b) => b.forMs - a.forMs).slice(0, 10)
  if (longest.length === 0) return ''
  return desk.table(longest, [
    { title: 'running', of: ({ handler }) => handler, cut: true },
    { title: 'message', of: ({ messageId }) => messageId, cut: true },
    { title: 'attempt', of: ({ attempt }) => attempt },
    { title: 'for', of: ({ forMs }) => spanOf(forMs) },
    { title: 'where', of: ({ where }) => where, cut: true },
  ])
}

export function handlersText(desk: Desk, handlers: readonly HandlerView[]): string {
  if (handlers.length === 0) return ''
  return desk.table(handlers, [
    { title: 'handler', of: ({ name }) => name, cut: true },
    { title: 'in', of: ({ processes }) => processes.length },
    { title: 'state', of: stateOf, cut: true },
    { title: 'failed', of: ({ failureRate }) => percent(failureRate) },
    { title: 'p50', of: ({ p50Ms }) => millis(p50Ms) },
    { title: 'p99', of: ({ p99Ms }) => millis(p99Ms) },
    { title: 'waiting', of: ({ waiting }) => waiting },
    { title: 'dead', of: ({ dead }) => dead },
  ])
}

function stateOf({ paused, processes }: HandlerView): string {
  if (paused !== undefined) return `paused by ${paused.by}`
  const open = processes.filter(({ breaker }) => breaker === 'open').length
  if (open > 0) return `breaker open in ${open}`
  return processes.length === 0 ? 'not running' : 'ok'
}
