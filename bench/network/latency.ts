import type { Pool } from 'pg'
import type { Transport } from '../../src/contracts/index.ts'
import { median, quantile } from '../rounds.ts'
import type { Lines, Row } from '../suite.ts'
import { type ConsumerName, expectedOf, startConsumer } from '../transfers/consumers.ts'
import { prefetched } from '../transfers/prefetched.ts'
import { emptyTables, isAsExpected } from '../transfers/tables.ts'
import { dueTimes, nowMs, startArrivals } from './arrivals.ts'
import { messagesIn, usual } from './situations.ts'

/** How long messages took from their arrival until they were settled, which follows the commit. */
export interface LatencyRow {
  readonly name: string
  readonly rttMs: number
  /** Of the rate that this way of working sustains. */
  readonly share: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Against bare at the same share of its own rate. */
  readonly p50Ratio: number
  readonly p99Ratio: number
  readonly correct: boolean
}

export interface LatencyOptions {
  readonly rttMs: number
  readonly pool: Pool
  readonly rounds: number
  /** How long each measurement takes, unless that would be more than four times `messages`. */
  readonly seconds: number
  readonly messages: number
  /** What was measured before: the rates that are sustained. */
  readonly rows: readonly Row[]
}

/** Bare is the first, because the others are compared with it. */
const ways: readonly { readonly name: string; readonly consumer: ConsumerName; readonly keyed?: boolean }[] = [
  { name: 'bare', consumer: 'bare' },
  { name: 'handlers', consumer: 'handlers' },
  { name: 'handlers-key', consumer: 'handlers', keyed: true },
  { name: 'handlers-interleaved', consumer: 'interleaved' },
]

const shares = [0.1, 0.5, 0.9]

/** All ways in turn at each share, round after round. */
export async function latencies(options: LatencyOptions, say: (line: string) => void): Promise<readonly LatencyRow[]> {
  const { rttMs, rows, rounds } = options
  const cases = shares.flatMap((share) =>
    ways.map((way) => {
      const sustained = rows.find(({ name }) => name === way.name)?.perSecond as number
      return { ...way, share, perSecond: Math.max(1, Math.round(sustained * share)), results: [] as Latency[] }
    }),
  )
  for (let round = 1; round <= rounds; round++) {
    for (const { name, share, results, ...way } of cases) {
      const result = await measureLatency(way, options)
      results.push(result)
      const [p50, p99] = [result.p50Ms, result.p99Ms].map((ms) => ms.toFixed(2))
      say(
        `  round ${round}  ${name} at ${share * 100} %: p50 ${p50} ms, p99 ${p99} ms${result.correct ? '' : '  WRONG'}`,
      )
    }
  }
  const medians = cases.map(({ name, share, perSecond, results }) => ({
    name,
    rttMs,
    share,
    perSecond,
    p50Ms: rounded(median(results.map(({ p50Ms }) => p50Ms))),
    p99Ms: rounded(median(results.map(({ p99Ms }) => p99Ms))),
    correct: results.every(({ correct }) => correct),
  }))
  return medians.map(({ correct, ...row }) => {
    const bare = medians.find(({ name, share }) => name === ways[0]?.name && share === row.share) as typeof row
    const [p50Ratio, p99Ratio] = [rounded(row.p50Ms / bare.p50Ms), rounded(row.p99Ms / bare.p99Ms)]
    return { ...row, p50Ratio, p99Ratio, correct }
  })
}

type Latency = Pick<LatencyRow, 'p50Ms' | 'p99Ms' | 'correct'>

async function measureLatency(
  { consumer, keyed, perSecond }: { consumer: ConsumerName; keyed?: boolean; perSecond: number },
  { pool, seconds, messages }: LatencyOptions,
): Promise<Latency> {
  const workload = messagesIn(usual, { messages: Math.min(4 * messages, Math.ceil(perSecond * seconds)), keyed })
  await emptyTables(pool)
  const source = prefetched({ inFlight: usual.inFlight })
  const settledAt = new Map<string | undefined, number>()
  const watched: Transport = {
    ...source,
    settle(deliveries, settlement) {
      if (settlement.kind === 'done') for (const { message } of deliveries) settledAt.set(message.id, nowMs())
      return source.settle(deliveries, settlement)
    },
  }
  const running = await startConsumer(consumer, watched, { pool })
  const dueMs = dueTimes(workload.messages, perSecond)
  const allDone: Promise<void>[] = []
  let begun = 0
  await startArrivals(dueMs, ({ begunAt, from, to }) => {
    begun = begunAt
    allDone.push(source.deliverAll(workload.deliveries.slice(from, to)))
  })
  await Promise.all(allDone)
  await running.stop()
  const took = workload.deliveries.map(({ id }, i) => (settledAt.get(id) as number) - begun - (dueMs[i] as number))
  // The first ones find a consumer that has just started.
  const counted = took.slice(Math.floor(took.length / 10))
  const correct = await isAsExpected(pool, workload, expectedOf(consumer))
  return { p50Ms: quantile(counted, 0.5), p99Ms: quantile(counted, 0.99), correct }
}

export function latencyLines(rows: readonly LatencyRow[]): Lines {
  const head = ['name', 'rate', 'per second', 'p50 ms', 'p99 ms', 'p50 ratio', 'p99 ratio', 'correct']
  return [
    head,
    ...rows.map(({ name, share, perSecond, p50Ms, p99Ms, p50Ratio, p99Ratio, correct }) => [
      name,
      `${share * 100} %`,
      String(perSecond),
      ...[p50Ms, p99Ms, p50Ratio, p99Ratio].map((figure) => figure.toFixed(2)),
      correct ? 'yes' : 'NO',
    ]),
  ]
}

function rounded(figure: number): number {
  return Number(figure.toFixed(3))
}
