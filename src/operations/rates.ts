import { addCounts, type Counts, mergeInto, noCounts, quantile } from '../facts/index.ts'
import type { MinuteView, Rates } from './monitoring-types.ts'

export function sumOf(all: Iterable<Counts>): Counts {
  const sum = noCounts()
  for (const counts of all) addCounts(sum, counts)
  return sum
}

/** What was done per second. */
export function ratesOf(counts: Counts, ms: number): Rates {
  const view = minuteView(new Date(0), counts)
  const perSecond = (count: number): number => (ms > 0 ? (count * 1_000) / ms : 0)
  return {
    processed: perSecond(view.processed),
    duplicates: perSecond(view.knownHere + view.knownInStore),
    failed: perSecond(view.failed),
    retried: perSecond(view.retried),
    dead: perSecond(view.dead),
    expired: perSecond(view.expired),
    published: perSecond(view.published),
    sent: perSecond(view.sent),
    batchSize: view.batches === 0 ? undefined : view.batchMessages / view.batches,
    p50Ms: view.p50Ms,
    p99Ms: view.p99Ms,
  }
}

export function addRates(all: readonly Rates[], durations: Pick<Rates, 'batchSize' | 'p50Ms' | 'p99Ms'>): Rates {
  const sum = (pick: (rates: Rates) => number): number => all.reduce((total, rates) => total + pick(rates), 0)
  return {
    processed: sum(({ processed }) => processed),
    duplicates: sum(({ duplicates }) => duplicates),
    failed: sum(({ failed }) => failed),
    retried: sum(({ retried }) => retried),
    dead: sum(({ dead }) => dead),
    expired: sum(({ expired }) => expired),
    published: sum(({ published }) => published),
    sent: sum(({ sent }) => sent),
    ...durations,
  }
}

export function minuteView(at: Date, { handlers, destinations, batches, published }: Counts): MinuteView {
  const sum = { processed: 0, knownHere: 0, knownInStore: 0, failed: 0, retried: 0, dead: 0, expired: 0 }
  const durations = new Map<number, number>()
  for (const handler of handlers.values()) {
    for (const field of Object.keys(sum) as (keyof typeof sum)[]) sum[field] += handler[field]
    mergeInto(durations, handler.durations)
  }
  let [sent, unsent] = [0, 0]
  for (const destination of destinations.values()) {
    sent += destination.sent
    unsent += destination.failed
  }
  return {
    at,
    ...sum,
    published,
    sent,
    unsent,
    batches: batches.count,
    batchMessages: batches.messages,
    largestBatch: batches.largest,
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
  }
}
