import type { Store } from '../contracts/index.ts'
import { isOutgoing } from '../encoding/outgoing-queue.ts'
import { unrouted } from '../encoding/unrouted.ts'
import { JustonceError } from '../errors/index.ts'
import {
  addCounts,
  type Counts,
  countsOf,
  listMinutes,
  listPauses,
  nameOfPause,
  noCounts,
  packPause,
  quantile,
  type ReceivedReport,
} from '../facts/index.ts'
import { keepAudit } from './audit.ts'
import { checkText } from './letter-filter.ts'
import type { HandlerOperations, HandlerPlace, HandlerView } from './monitoring-types.ts'
import { parkedByHandler } from './parked-by-handler.ts'
import { reportsOf } from './reports.ts'
import { despiteRivals, RivalError } from './rivals.ts'
import type { Site } from './site.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

const lookBackMs = 15 * 60_000
const longestName = 300

export function handlerOperations<Tx>(site: Site<Tx>): HandlerOperations {
  return {
    list: async () => await listHandlers(site),
    async pause(handler, whoAndWhy) {
      const { by, why } = checkWhoAndWhy(whoAndWhy, 'pause()')
      checkName(handler)
      await checkKnown(site, handler)
      return await change(site, handler, { action: 'pause', by, why })
    },
    async resume(handler, whoAndWhy) {
      const { by, why } = checkWhoAndWhy(whoAndWhy, 'resume()')
      checkName(handler)
      return await change(site, handler, { action: 'resume', by, why })
    },
  }
}

async function listHandlers<Tx>(site: Site<Tx>): Promise<readonly HandlerView[]> {
  const { store, clock } = site
  const reports = await reportsOf(site)
  const pauses = new Map((await listPauses(store)).map((pause) => [pause.handler, pause]))
  const parked = await parkedByHandler(store)
  const counts = await recentCounts(store, reports, new Date(clock.now().getTime() - lookBackMs))
  const ofProcesses = reports.flatMap(({ handlers }) => handlers.map(({ name }) => name))
  const withRows = parked.map(({ handler }) => handler).filter((name) => !isOutgoing(name) && name !== unrouted)
  const names = new Set([...ofProcesses, ...withRows, ...pauses.keys()])
  return [...names].toSorted().map((name) => {
    const reported = reports.flatMap(({ handlers }) => handlers.filter((handler) => handler.name === name))
    const { durations, ...numbers } = countsOf(counts, name)
    const attempts = numbers.processed + numbers.failed
    const rowsOf = (state: string): number =>
      parked.reduce((sum, row) => (row.handler === name && row.state === state ? sum + row.count : sum), 0)
    return {
      name,
      types: [...new Set(reported.map(({ type }) => type))],
      formerly: [...new Set(reported.flatMap(({ formerly }) => formerly))],
      processes: reports.flatMap((report) => placeIn(report, name)),
      paused: pauses.get(name),
      counts: numbers,
      failureRate: attempts === 0 ? undefined : numbers.failed / attempts,
      p50Ms: quantile(durations, 0.5),
      p99Ms: quantile(durations, 0.99),
      waiting: rowsOf('waiting'),
      dead: rowsOf('dead'),
    }
  })
}

function placeIn({ id, host, pid, handlers, running }: ReceivedReport, name: string): readonly HandlerPlace[] {
  const handler = handlers.find((each) => each.name === name)
  if (handler === undefined) return []
  const { breaker, paused } = handler
  const calls = running.filter((call) => call.handler === name).length
  return [{ process: id, host, pid, breaker, paused, running: calls }]
}

async function recentCounts<Tx>(
  store: Pick<Store<Tx>, 'facts'>,
  reports: readonly ReceivedReport[],
  since: Date,
): Promise<Counts> {
  const sum = noCounts()
  for (const { counts } of await listMinutes(store, since)) addCounts(sum, counts)
  for (const { minute } of reports) addCounts(sum, minute.counts)
  return sum
}

/** Changes the fact and the audit in one transaction. False if it is as wanted already. */
async function change<Tx>(
  site: Site<Tx>,
  handler: string,
  { action, by, why }: { readonly action: 'pause' | 'resume'; readonly by: string; readonly why: string },
): Promise<boolean> {
  const { store } = site
  const name = nameOfPause(handler)
  const isPause = action === 'pause'
  const isChanged = await despiteRivals(async () => {
    const [known] = await store.facts.read([name])
    if ((known !== undefined) === isPause) return false
    const forMs = isPause ? undefined : 0
    return await store.transaction(async (tx) => {
      const [revision] = await store.facts.change(tx, [
        { name, from: known?.revision, value: isPause ? packPause({ by, why }) : '', forMs },
      ])
      if (revision === undefined) throw new RivalError()
      await keepAudit(site, tx, { action, by, why, subject: { handler } })
      return true
    })
  })
  if (isChanged) site.changed({ kind: 'pauses-changed' })
  return isChanged
}

function checkName(handler: string): void {
  checkText(handler, 'handler')
  if (handler !== '' && handler.length <= longestName) return
  throw new JustonceError('OPTION_INVALID', { message: `A handler's name has 1 to ${longestName} characters.` })
}

/** A misspelt name would pause nothing, and nobody would notice. If no process is alive, nobody knows. */
async function checkKnown<Tx>(site: Pick<Site<Tx>, 'store' | 'ownReport'>, handler: string): Promise<void> {
  const reports = await reportsOf(site)
  const names = new Set(reports.flatMap(({ handlers }) => handlers.flatMap((each) => [each.name, ...each.formerly])))
  if (reports.length === 0 || names.has(handler)) return
  throw new JustonceError('OPTION_INVALID', {
    message: `No process that is running has a handler ${JSON.stringify(handler)}. They have: ${[...names].toSorted().join(', ')}.`,
  })
}
