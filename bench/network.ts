import pg from 'pg'
import { startPostgres } from '../test/servers/postgres.ts'
import { speedLines } from './failures/lines.ts'
import { farther } from './network/farther.ts'
import { pools } from './network/pools.ts'
import { chooseConnections } from './network/rivals.ts'
import { waysAt } from './network/ways.ts'
import { interleaved } from './rounds.ts'
import type { BenchOptions, Suite, SuiteResult } from './suite.ts'
import { createTables } from './transfers/tables.ts'

interface NetworkOptions extends BenchOptions {
  /** Round trips to the database, in milliseconds. */
  readonly rtt: readonly number[]
}

export const network: Suite<NetworkOptions> = {
  name: 'network',
  about: 'transfers through Postgres with a network in between: by hand at its best, and justonce',
  defaults: { rounds: 3, messages: 6_000, rtt: [0, 0.5, 2] },
  quick: { rounds: 1, messages: 200, rtt: [0, 0.5] },

  async run({ rtt, ...options }, say) {
    const server = await startPostgres()
    try {
      const url = await server.createDatabase('bench')
      say(`Postgres ${server.version}, fsync and synchronous_commit on`)
      const pool = new pg.Pool({ connectionString: url })
      await createTables(pool)
      await pool.end()
      const results: SuiteResult[] = []
      for (const rttMs of rtt) results.push(await runAt(url, rttMs, options, say))
      return { rows: results.flatMap(({ rows }) => rows), tables: results.flatMap(({ tables }) => tables) }
    } finally {
      await server.stop()
    }
  },
}

async function runAt(
  direct: string,
  rttMs: number,
  options: BenchOptions,
  say: (line: string) => void,
): Promise<SuiteResult> {
  const { url, added, stop } = await farther(direct, rttMs)
  const { poolOf, end } = pools(url)
  try {
    const [median, p99] = [added.medianMs, added.p99Ms].map((ms) => ms.toFixed(3))
    say(`\n${rttMs} ms of round trip: ${median} ms in the median of a ping-pong, ${p99} ms at p99`)
    const connections = await chooseConnections(poolOf, options, say)
    const ways = waysAt({ rttMs, poolOf, connections, ...options })
    const rows = (await interleaved(ways, options.rounds, say)).map(({ name, ...row }) => ({ name, rttMs, ...row }))
    const title = `Deliveries per second with ${rttMs} ms of round trip`
    return { rows, tables: [{ title, lines: speedLines(rows, ways) }] }
  } finally {
    await end()
    await stop()
  }
}
