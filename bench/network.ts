import pg from 'pg'
import { startPostgres } from '../test/servers/postgres.ts'
import { speedLines } from './failures/lines.ts'
import { farther } from './network/farther.ts'
import { idleLines, measureIdle } from './network/idle.ts'
import { type LatencyRow, latencies, latencyLines } from './network/latency.ts'
import { pools } from './network/pools.ts'
import { chooseConnections } from './network/rivals.ts'
import { usual } from './network/situations.ts'
import { waysAt } from './network/ways.ts'
import { interleaved } from './rounds.ts'
import type { BenchOptions, Suite, SuiteResult } from './suite.ts'
import { createTables } from './transfers/tables.ts'

interface NetworkOptions extends BenchOptions {
  /** Round trips to the database, in milliseconds. */
  readonly rtt: readonly number[]
  /** How long latencies are measured, for each way of working and rate. */
  readonly seconds: number
  /** For how many seconds an idle app is watched. */
  readonly idle: number
}

export const network: Suite<NetworkOptions> = {
  name: 'network',
  about: 'transfers through Postgres with a network in between: by hand at its best, and justonce',
  defaults: { rounds: 3, messages: 6_000, rtt: [0, 0.5, 2], seconds: 3, idle: 20 },
  quick: { rounds: 1, messages: 200, rtt: [0, 0.5], seconds: 1, idle: 1 },

  async run({ rtt, ...options }, say) {
    const server = await startPostgres()
    try {
      const url = await server.createDatabase('bench')
      say(`Postgres ${server.version}, fsync and synchronous_commit on`)
      const pool = new pg.Pool({ connectionString: url })
      await createTables(pool)
      await pool.end()
      const results: AtDistance[] = []
      for (const rttMs of rtt) results.push(await runAt(url, rttMs, options, say))
      say(`\nan app with nothing to do, for ${options.idle} s`)
      const idle = await measureIdle(url, options.idle)
      return {
        rows: results.flatMap(({ rows }) => rows),
        more: { latency: results.flatMap(({ latency }) => latency), idle },
        tables: [
          ...results.flatMap(({ tables }) => tables),
          { title: 'An app with nothing to do', lines: idleLines(idle) },
        ],
      }
    } finally {
      await server.stop()
    }
  },
}

interface AtDistance extends SuiteResult {
  readonly latency: readonly LatencyRow[]
}

async function runAt(
  direct: string,
  rttMs: number,
  options: Omit<NetworkOptions, 'rtt'>,
  say: (line: string) => void,
): Promise<AtDistance> {
  const { url, added, stop } = await farther(direct, rttMs)
  const { poolOf, end } = pools(url)
  try {
    const [p10, median, p99] = [added.p10Ms, added.medianMs, added.p99Ms].map((ms) => ms.toFixed(3))
    say(`\n${rttMs} ms of round trip; a ping-pong takes p10 ${p10}, median ${median}, p99 ${p99} ms longer`)
    const connections = await chooseConnections(poolOf, options, say)
    const ways = waysAt({ rttMs, poolOf, connections, ...options })
    const rows = (await interleaved(ways, options.rounds, say)).map(({ name, ...row }) => ({ name, rttMs, ...row }))
    const pool = poolOf(connections('bare', usual))
    const latency = await latencies({ rttMs, pool, rows, ...options }, say)
    const distance = `${rttMs} ms of round trip`
    return {
      rows,
      latency,
      tables: [
        { title: `Deliveries per second with ${distance}`, lines: speedLines(rows, ways) },
        { title: `From arrival to commit with ${distance}`, lines: latencyLines(latency) },
      ],
    }
  } finally {
    await end()
    await stop()
  }
}
