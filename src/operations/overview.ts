import type { QueueCount, Store } from '../contracts/index.ts'
import { destinationOf, isOutgoing } from '../encoding/outgoing-queue.ts'
import { checkOptions } from '../errors/index.ts'
import { addCounts, type Counts, listMinutes, minuteMs, noCounts, type ReceivedReport } from '../facts/index.ts'
import { countParked } from './count-parked.ts'
import { checkText } from './letter-filter.ts'
import type { MinuteView, Overview, OverviewOptions, ProcessView } from './monitoring-types.ts'
import { addRates, minuteView, ratesOf, sumOf } from './rates.ts'
import { reportsOf } from './reports.ts'
import type { Site } from './site.ts'
import { longestWaitSince } from './waiting-since.ts'
import { checkWhole } from './who-and-why.ts'

/** The processes that are alive, those that started last first. */
export async function listProcesses<Tx>(site: Pick<Site<Tx>, 'store' | 'ownReport'>): Promise<readonly ProcessView[]> {
  return (await reportsOf(site)).map(({ minute: _, recent, ...report }) => ({
    ...report,
    now: ratesOf(recent.counts, recent.ms),
  }))
}

const mostMinutes = 7 * 24 * 60

export async function overview<Tx>(
  site: Pick<Site<Tx>, 'store' | 'clock' | 'ownReport'>,
  options: OverviewOptions = {},
): Promise<Overview> {
  const { store, clock } = site
  checkOptions(options, ['minutes', 'process'], 'overview()')
  const { minutes = 60, process } = options
  checkWhole(minutes, 'minutes', 0, mostMinutes)
  if (process !== undefined) checkText(process, 'process')
  const reports = await reportsOf(site)
  const asked = process === undefined ? reports : reports.filter(({ id }) => id === process)
  const { batchSize, p50Ms, p99Ms } = ratesOf(sumOf(asked.map(({ recent }) => recent.counts)), 1)
  // The database's time, as far as a process has seen it lately.
  const now = Math.max(clock.now().getTime(), ...reports.map(({ reportedAt }) => reportedAt.getTime()))
  const history = minutes === 0 ? [] : await historyOf(store, asked, { minutes, process, now })
  const { queues, outgoing } = await queuesOf(store)
  return {
    store: { name: store.name, guarantee: store.guarantee },
    processes: reports.length,
    now: addRates(
      asked.map(({ recent }) => ratesOf(recent.counts, recent.ms)),
      { batchSize, p50Ms, p99Ms },
    ),
    history,
    queues,
    brokers: brokersOf(reports),
    outgoing,
    delayed: await countParked(store, { kind: 'delayed', state: 'waiting' }),
    parked: {
      waiting: await countParked(store, { state: 'waiting' }),
      dead: await countParked(store, { state: 'dead' }),
      waitingSince: await longestWaitSince(store.parking),
    },
    intents: {
      waiting: await countParked(store, { kind: 'intent', state: 'waiting' }),
      dead: await countParked(store, { kind: 'intent', state: 'dead' }),
    },
    records: await store.inbox.size?.(),
    horizon: await store.retention?.horizon(),
  }
}

/** What was counted in the last minutes, including what the processes have not saved yet. */
async function historyOf<Tx>(
  store: Pick<Store<Tx>, 'facts'>,
  reports: readonly ReceivedReport[],
  { minutes, process, now }: { readonly minutes: number; readonly process: string | undefined; readonly now: number },
): Promise<readonly MinuteView[]> {
  const last = Math.floor(now / minuteMs)
  const first = last - minutes + 1
  const byMinute = new Map<number, Counts>()
  const add = (at: Date, counts: Counts): void => {
    // The age of a report may put its minute a moment too early.
    const number = Math.floor((at.getTime() + 1_000) / minuteMs)
    const known = byMinute.get(number) ?? noCounts()
    addCounts(known, counts)
    byMinute.set(number, known)
  }
  for (const minute of await listMinutes(store, new Date(first * minuteMs)))
    if (process === undefined || minute.process === process) add(minute.at, minute.counts)
  for (const { minute } of reports) add(minute.at, minute.counts)
  return Array.from({ length: minutes }, (_, index) => {
    const number = first + index
    return minuteView(new Date(number * minuteMs), byMinute.get(number) ?? noCounts())
  })
}

/** The latest that any process was told. All that read a source are told the same, a few seconds apart. */
function brokersOf(reports: readonly ReceivedReport[]): Record<string, number> {
  const latestLast = reports.toSorted((a, b) => a.reportedAt.getTime() - b.reportedAt.getTime())
  return Object.fromEntries(
    latestLast.flatMap(({ brokers = [] }) =>
      brokers.flatMap(({ name, waiting }) => (waiting === undefined ? [] : [[name, waiting]])),
    ),
  )
}

async function queuesOf<Tx>({ queue }: Pick<Store<Tx>, 'queue'>): Promise<Pick<Overview, 'queues' | 'outgoing'>> {
  const queues: Record<string, QueueCount> = {}
  const outgoing: Record<string, QueueCount> = {}
  for (const name of (await queue?.queues()) ?? []) {
    const count = (await queue?.count(name)) as QueueCount
    if (isOutgoing(name)) outgoing[destinationOf(name)] = count
    else queues[name] = count
  }
  return { queues, outgoing }
}
