import { count, millis, rate, size, span } from '../format.ts'
import { Panel, State, Time, Trouble } from '../parts/small.tsx'
import { go, link } from '../route.ts'
import { useAsked } from '../use-asked.ts'
import type { Alert, Overview, Process } from '../wire.ts'
import { Alerts } from './alerts.tsx'
import { Charts } from './charts.tsx'
import { Processes, RunningNow } from './processes.tsx'

const ranges = [
  ['15', '15 min'],
  ['60', '1 h'],
  ['360', '6 h'],
  ['1440', '24 h'],
] as const

export function OverviewPage({ query }: { readonly query: URLSearchParams }) {
  const minutes = query.get('minutes') ?? '60'
  const process = query.get('process') ?? ''
  const { data, error } = useAsked<Overview>('overview', { minutes, process }, 5_000)
  const processes = useAsked<readonly Process[]>('processes', {}, 5_000)
  const alerts = useAsked<readonly Alert[]>('alerts', {}, 5_000)
  const change = (changed: Record<string, string>): void => go('', { minutes, process, ...changed })
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <div class="controls">
          <label>
            <span class="sr">Process</span>
            <select value={process} onChange={(event) => change({ process: event.currentTarget.value })}>
              <option value="">All processes</option>
              {processes.data?.map(({ id, app, host, pid }) => (
                <option key={id} value={id}>
                  {`${app ?? ''} ${host}/${pid}`.trim()}
                </option>
              ))}
            </select>
          </label>
          <fieldset class="segments" aria-label="Range of the charts">
            {ranges.map(([value, label]) => (
              <button
                type="button"
                key={value}
                aria-pressed={value === minutes}
                onClick={() => change({ minutes: value })}
              >
                {label}
              </button>
            ))}
          </fieldset>
        </div>
      </header>
      <Trouble error={error ?? processes.error} />
      <Alerts alerts={alerts.data} />
      <Now overview={data} />
      <Charts history={data?.history} />
      <div class="columns">
        <Waits overview={data} />
        <RunningNow processes={processes.data} only={process} />
      </div>
      <Processes processes={processes.data} />
    </>
  )
}

function Now({ overview }: { readonly overview: Overview | undefined }) {
  const now = overview?.now
  const tiles: readonly (readonly [label: string, value: string, tone: string])[] = [
    ['processed / s', rate(now?.processed), ''],
    ['duplicates / s', rate(now?.duplicates), ''],
    ['failed / s', rate(now?.failed), (now?.failed ?? 0) > 0 ? 'bad' : ''],
    ['retried / s', rate(now?.retried), (now?.retried ?? 0) > 0 ? 'warn' : ''],
    ['sent / s', rate(now?.sent), ''],
    ['half of the calls take', millis(now?.p50Ms), ''],
    ['99 of 100 take', millis(now?.p99Ms), ''],
    ['messages per batch', now?.batchSize === undefined ? '–' : now.batchSize.toFixed(1), ''],
  ]
  return (
    <ul class="tiles" aria-label="Now">
      {tiles.map(([label, value, tone]) => (
        <li key={label}>
          <strong class={tone}>{value}</strong>
          <span>{label}</span>
        </li>
      ))}
    </ul>
  )
}

function Waits({ overview }: { readonly overview: Overview | undefined }) {
  if (overview === undefined) return <Panel title="What waits">{<p class="empty muted">Loading …</p>}</Panel>
  const { parked, intents, delayed, queues, brokers, outgoing, records, horizon, store } = overview
  const tone = (value: number, bad: string): string => (value > 0 ? bad : '')
  return (
    <Panel title="What waits">
      <table class="plain" aria-label="What waits">
        <tbody>
          <Line href={link('letters')} label="Dead letters" value={parked.dead} tone={tone(parked.dead, 'bad')} />
          <Line href={link('waiting')} label="Waiting for another attempt" value={parked.waiting} />
          <Line href={link('intents')} label="Intents that are open" value={intents.waiting} />
          <Line
            href={link('intents', { only: 'person' })}
            label="Intents that wait for a person"
            value={intents.dead}
            tone={tone(intents.dead, 'bad')}
          />
          <Line href={link('outgoing')} label="Delayed until their time" value={delayed} />
          {Object.entries(queues).map(([name, each]) => (
            <Line
              key={`q${name}`}
              href={link('queue', { queue: name })}
              label={`In queue ${name}`}
              value={each.ready + each.hidden}
              oldestMs={each.oldestMs}
            />
          ))}
          {Object.entries(brokers).map(([name, waiting]) => (
            <Line key={`b${name}`} label={`At ${name}`} value={waiting} />
          ))}
          {Object.entries(outgoing).map(([name, each]) => (
            <Line
              key={`o${name}`}
              href={link('outgoing')}
              label={`Not sent yet to ${name}`}
              value={each.ready + each.hidden}
              oldestMs={each.oldestMs}
            />
          ))}
          {records && (
            <tr>
              <th scope="row">{records.of === 'database' ? 'Database, with everything in it' : 'Records, about'}</th>
              <td class="number">{records.rows === undefined ? '' : count(records.rows)}</td>
              <td class="muted">{records.bytes === undefined ? '' : size(records.bytes)}</td>
            </tr>
          )}
          <tr>
            <th scope="row">Records reach back</th>
            <td colSpan={2}>{horizon === undefined ? 'to the beginning' : <Time at={horizon} />}</td>
          </tr>
          <tr>
            <th scope="row">Store</th>
            <td colSpan={2}>
              {store.name} <State is={store.guarantee} />
            </td>
          </tr>
        </tbody>
      </table>
    </Panel>
  )
}

interface LineProps {
  readonly label: string
  readonly value: number
  readonly href?: string
  readonly tone?: string
  readonly oldestMs?: number | undefined
}

function Line({ label, value, href, tone = '', oldestMs }: LineProps) {
  return (
    <tr>
      <th scope="row">{href === undefined ? label : <a href={href}>{label}</a>}</th>
      <td class={`number ${tone}`}>{count(value)}</td>
      <td class="muted">{oldestMs === undefined ? '' : `oldest ${span(oldestMs)}`}</td>
    </tr>
  )
}
