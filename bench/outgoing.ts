import pg from 'pg'
import { startPostgres } from '../test/servers/postgres.ts'
import { speedLines } from './failures/lines.ts'
import { installTables } from './failures/parked-rows.ts'
import { freshMessages } from './failures/traffic.ts'
import { measureIntents } from './outgoing/intents.ts'
import { measureHandlers, measureIdle, measureLatency, measureRelay, type Setup } from './outgoing/measure.ts'
import { interleaved, type Way } from './rounds.ts'
import type { BenchOptions, Suite } from './suite.ts'
import { createTables } from './transfers/tables.ts'

const concurrency = 4
const light = { perSecond: 50, messages: 300 }
const idleMs = 8_000
const mostCalls = 3_000

export const outgoing: Suite<BenchOptions> = {
  name: 'outgoing',
  about:
    'transfers through Postgres whose handlers publish a message each, the relay that sends them, and intended calls over HTTP',
  defaults: { rounds: 3, messages: 15_000 },
  quick: { rounds: 1, messages: 1_000 },

  async run({ rounds, messages }, say) {
    const server = await startPostgres()
    const pool = new pg.Pool({ connectionString: await server.createDatabase('outgoing'), max: concurrency + 6 })
    try {
      say(
        `Postgres ${server.version}, fsync and synchronous_commit on; ${concurrency} in flight; a broker that takes everything at once`,
      )
      await createTables(pool)
      await installTables(pool)
      const setup = (count: number, seed: number): Setup => ({
        pool,
        concurrency,
        workload: freshMessages(count, seed),
      })
      say('warming up')
      for (const way of waysOf(setup(Math.min(1_000, messages), 1))) await way.measure()
      const ways = waysOf(setup(messages, 2))
      const rows = await interleaved(ways, rounds, say)
      const latency = await measureLatency(setup(Math.min(light.messages, messages), 3), light.perSecond)
      const idle = await measureIdle({ pool, concurrency }, idleMs)
      const goal = latency.p50Ms <= 10 ? 'at most 10: met' : 'at most 10: MISSED'
      return {
        rows,
        more: { latency: [latency], idle: [{ transactionsPerSecond: idle }] },
        tables: [
          { title: 'Rates', lines: speedLines(rows, ways) },
          {
            title: `From the commit to the broker, ${light.perSecond} messages per second`,
            lines: [
              ['p50 ms', 'goal', 'p99 ms', 'messages'],
              [latency.p50Ms.toFixed(1), goal, latency.p99Ms.toFixed(1), String(latency.messages)],
            ],
          },
          { title: 'An app with nothing to do', lines: [['transactions per second'], [idle.toFixed(1)]] },
        ],
      }
    } finally {
      await pool.end()
      await server.stop()
    }
  },
}

function waysOf(setup: Setup): readonly Way[] {
  const none = 'handlers that publish nothing'
  const publishing = 'handlers that publish one each'
  return [
    { name: none, against: none, measure: () => measureHandlers(setup, { publishes: false, isSent: false }) },
    {
      name: publishing,
      against: none,
      goal: { atLeast: 0.8 },
      measure: () => measureHandlers(setup, { publishes: true, isSent: false }),
    },
    {
      name: 'the same, sent by the same process',
      against: none,
      measure: () => measureHandlers(setup, { publishes: true, isSent: true }),
    },
    { name: 'a relay alone', against: publishing, goal: { atLeast: 3 }, measure: () => measureRelay(setup) },
    {
      name: 'intended calls over HTTP, eight at once',
      against: 500,
      goal: { atLeast: 1 },
      measure: () => measureIntents(setup, Math.min(setup.workload.messages, mostCalls)),
    },
  ]
}
