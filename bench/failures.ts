import pg from 'pg'
import { startPostgres } from '../test/servers/postgres.ts'
import { countCosts } from './failures/costs.ts'
import { processedLines, speedLines } from './failures/lines.ts'
import { measurePaced } from './failures/paced.ts'
import { fillParked, installTables } from './failures/parked-rows.ts'
import { measureRedrive } from './failures/redrive.ts'
import { failingAmong, freshMessages, measureTraffic, type TrafficSetup } from './failures/traffic.ts'
import { interleaved, type Way } from './rounds.ts'
import type { BenchOptions, Row, Suite } from './suite.ts'
import { createTables } from './transfers/tables.ts'

const concurrency = 4

/** The batches in flight, retries, redrives and the relay each have a connection, and one is left. */
const poolSize = concurrency + 4

/** How often parked messages are looked for when nothing is known to be due; small where the last retries are waited for. */
const pollMs = { soon: 50, byDefault: 1_000 }

const oneFailsIn = 100
const pace = { perSecond: 2_000, ms: 5_000 }

type FailuresOptions = BenchOptions & {
  /** Rows of the full parked table. */
  readonly parked: number
  /** Dead letters of one redrive. */
  readonly letters: number
}

interface Databases {
  readonly url: string
  /** Nothing is parked here but what the messages of a run leave. */
  readonly empty: pg.Pool
  readonly full: pg.Pool
}

export const failures: Suite<FailuresOptions> = {
  name: 'failures',
  about: 'transfers through Postgres when some fail, when much is parked, and when dead letters are redriven',
  defaults: { rounds: 3, messages: 40_000, parked: 1_000_000, letters: 100_000 },
  quick: { rounds: 1, messages: 3_000, parked: 20_000, letters: 3_000 },

  async run(options, say) {
    const server = await startPostgres()
    const pools: pg.Pool[] = []
    try {
      say(`Postgres ${server.version}, fsync and synchronous_commit on; ${concurrency} in flight, pool of ${poolSize}`)
      say(`one in ${oneFailsIn} fails once and is retried 10 ms later; due ones are looked for every ${pollMs.soon} ms`)
      say(`redrives look every ${pollMs.byDefault} ms, which is the default, unless the name says otherwise`)
      const url = await server.createDatabase('empty')
      const open = (at: string) => {
        const pool = new pg.Pool({ connectionString: at, max: poolSize })
        pools.push(pool)
        return pool
      }
      const databases = { url, empty: open(url), full: open(await server.createDatabase('full')) }
      return await runAgainst(databases, options, say)
    } finally {
      await Promise.all(pools.map((pool) => pool.end()))
      await server.stop()
    }
  },
}

async function runAgainst(databases: Databases, options: FailuresOptions, say: (line: string) => void) {
  for (const pool of [databases.empty, databases.full]) {
    await createTables(pool)
    await installTables(pool)
  }
  say(`parking ${options.parked} messages, half of them dead letters, in a database of their own`)
  await fillParked(databases.full, options.parked)
  const few = { ...options, messages: Math.min(2_000, options.messages), letters: Math.min(2_000, options.letters) }
  const counted = { concurrency, pollMs: pollMs.soon, workload: freshMessages(few.messages, 4), parked: 0 }
  const costs = await countCosts(counted, { url: databases.url, poolSize, oneFailsIn })
  say('warming up')
  for (const way of [...traffic(databases, few), ...redrives(databases, few).slice(0, 2)]) await way.measure()
  const processed = new Map<string, number[]>()
  const compared = [traffic(databases, options), redrives(databases, options, processed)]
  const rows: Row[] = []
  for (const ways of compared) rows.push(...(await interleaved(ways, options.rounds, say)))
  return {
    rows,
    tables: [
      { title: 'Messages per second', lines: speedLines(rows, compared.flat()) },
      {
        title: 'Letters processed per second, where they are released at a pace',
        lines: processedLines(processed),
      },
      { title: 'What a message costs', lines: costs },
    ],
  }
}

function traffic({ empty, full }: Databases, { messages, parked }: FailuresOptions): Way[] {
  const workload = freshMessages(messages, 1)
  const onEmpty: TrafficSetup = { pool: empty, concurrency, pollMs: pollMs.soon, workload, parked: 0 }
  const onFull = { ...onEmpty, pool: full, parked }
  const failing = failingAmong(workload, oneFailsIn)
  return [
    { name: 'fresh', against: 'fresh', measure: () => measureTraffic(onEmpty) },
    {
      name: 'failing',
      against: 'fresh',
      goal: { atLeast: 0.9 },
      measure: () => measureTraffic({ ...onEmpty, failing }),
    },
    { name: 'fresh-much-parked', against: 'fresh', goal: { atLeast: 0.9 }, measure: () => measureTraffic(onFull) },
    { name: 'failing-much-parked', against: 'failing', measure: () => measureTraffic({ ...onFull, failing }) },
  ]
}

function redrives({ empty }: Databases, { letters }: FailuresOptions, processed = new Map<string, number[]>()): Way[] {
  const setup = { pool: empty, concurrency, pollMs: pollMs.byDefault, workload: freshMessages(letters, 2), parked: 0 }
  // More than the time has room for: too fast must show as well.
  const enough = Math.ceil((pace.perSecond * pace.ms * 2) / 1_000)
  const paced = { ...setup, workload: freshMessages(enough, 3) }
  const pacedWay = (name: string, every: number): Way => {
    const seen: number[] = []
    processed.set(name, seen)
    const measure = async () => {
      const measured = await measurePaced({ ...paced, pollMs: every }, pace.perSecond, pace.ms)
      seen.push((measured.processed / measured.ms) * 1_000)
      return measured
    }
    return { name, against: pace.perSecond, goal: { atLeast: 0.95, atMost: 1.05 }, measure }
  }
  return [
    { name: 'as-many-fresh', against: 'as-many-fresh', measure: () => measureTraffic(setup) },
    { name: 'redrive', against: 'as-many-fresh', measure: () => measureRedrive(setup) },
    pacedWay('redrive-paced', pollMs.byDefault),
    pacedWay(`redrive-paced-poll-${pollMs.soon}ms`, pollMs.soon),
  ]
}
