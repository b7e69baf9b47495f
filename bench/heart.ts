import pg from 'pg'
import { startPostgres } from '../test/servers/postgres.ts'
import { interleaved, median, type Way } from './rounds.ts'
import type { BenchOptions, Lines, Row, Suite } from './suite.ts'
import type { ConsumerName } from './transfers/consumers.ts'
import { countingPool } from './transfers/count-trips.ts'
import { measure, measureDuplicates, measureRemembered, type Setup } from './transfers/measure.ts'
import { measureProcesses } from './transfers/processes.ts'
import { createTables } from './transfers/tables.ts'
import { makeWorkload } from './transfers/workload.ts'

const concurrency = 4

/** One connection more than are ever busy, for whatever looks after the tables meanwhile. */
const poolSize = concurrency + 1

const hot = { share: 0.5, accounts: 20 }

export const heart: Suite = {
  name: 'heart',
  about: 'transfers through Postgres: bare transactions, check-then-insert, justonce',
  defaults: { rounds: 3, messages: 20_000 },
  quick: { rounds: 1, messages: 1_000 },

  async run(options, say) {
    const server = await startPostgres()
    try {
      const url = await server.createDatabase('bench')
      say(`Postgres ${server.version}, fsync and synchronous_commit on; ${concurrency} in flight, pool of ${poolSize}`)
      return await runAgainst(url, options, say)
    } finally {
      await server.stop()
    }
  },
}

async function runAgainst(url: string, options: BenchOptions, say: (line: string) => void) {
  const pool = new pg.Pool({ connectionString: url, max: poolSize })
  try {
    await createTables(pool)
    const few = { ...options, messages: Math.min(2_000, options.messages) }
    const trips = await countTrips(url, few)
    const conflicts = new Map<string, number[]>()
    const ways = [...inOneProcess(pool, options), ...inManyProcesses(pool, url, options, conflicts)]
    say('warming up')
    for (const way of inOneProcess(pool, few)) await way.measure()
    const rows = await interleaved(ways, options.rounds, say)
    return {
      rows,
      tables: [
        { title: 'Deliveries per second', lines: speedLines(rows, conflicts) },
        { title: 'What a delivery costs, one fifth of them duplicates', lines: trips },
      ],
    }
  } finally {
    await pool.end()
  }
}

function inOneProcess(pool: pg.Pool, { messages }: BenchOptions): Way[] {
  const setup: Setup = { pool, concurrency, workload: makeWorkload({ messages, seed: 1 }) }
  // Each message waits for the one before it, so fewer of them take as long.
  const few = makeWorkload({ messages: Math.ceil(messages / 4), seed: 2 })
  const singly: Setup = { pool, concurrency: 1, workload: few, inFlight: 1 }
  const way = (name: string, run: () => ReturnType<Way['measure']>, against = 'bare'): Way => ({
    name,
    against,
    measure: run,
  })
  return [
    way('bare', () => measure('bare', setup)),
    way('check-then-insert', () => measure('check-then-insert', setup)),
    way('handlers', () => measure('handlers', setup)),
    way('batch', () => measure('batch', setup)),
    way('duplicates', () => measureDuplicates(setup)),
    way('duplicates-remembered', () => measureRemembered(setup)),
    way('bare-one-by-one', () => measure('bare', singly), 'bare-one-by-one'),
    way('one-by-one', () => measure('handlers', singly), 'bare-one-by-one'),
  ]
}

function inManyProcesses(
  pool: pg.Pool,
  url: string,
  { messages }: BenchOptions,
  conflicts: Map<string, number[]>,
): Way[] {
  const workload = { messages, seed: 3, hot }
  const way = (consumer: ConsumerName, processes: number): Way => {
    const name = (of: ConsumerName) => `${of}-${processes}-process${processes === 1 ? '' : 'es'}`
    const seen: number[] = []
    conflicts.set(name(consumer), seen)
    return {
      name: name(consumer),
      against: name('bare'),
      async measure() {
        const measured = await measureProcesses({ pool, url, consumer, concurrency, workload, processes })
        seen.push(measured.conflicts)
        return measured
      },
    }
  }
  return [1, 2, 4].flatMap((processes) => [way('bare', processes), way('handlers', processes)])
}

/** On a short pass of its own: counting takes time. */
async function countTrips(url: string, { messages }: BenchOptions): Promise<Lines> {
  const workload = makeWorkload({ messages, seed: 4 })
  const ways: [string, (setup: Setup) => ReturnType<Way['measure']>][] = [
    ['bare', (setup) => measure('bare', setup)],
    ['check-then-insert', (setup) => measure('check-then-insert', setup)],
    ['handlers', (setup) => measure('handlers', setup)],
    ['batch', (setup) => measure('batch', setup)],
    ['one-by-one', (setup) => measure('handlers', { ...setup, concurrency: 1, inFlight: 1 })],
  ]
  const lines: string[][] = [['name', 'statements', 'round trips']]
  for (const [name, run] of ways) {
    const { pool, trips } = countingPool(url, poolSize)
    await run({ pool, concurrency, workload })
    await pool.end()
    const each = (count: number) => (count / workload.deliveries.length).toFixed(2)
    lines.push([name, each(trips.statements), each(trips.roundTrips)])
  }
  return lines
}

function speedLines(rows: readonly Row[], conflicts: ReadonlyMap<string, readonly number[]>): Lines {
  const head = ['name', 'per second', 'ratio', 'correct', 'undone batches']
  return [
    head,
    ...rows.map(({ name, perSecond, ratio, correct }) => [
      name,
      String(perSecond),
      ratio.toFixed(2),
      correct ? 'yes' : 'NO',
      conflicts.has(name) ? String(median(conflicts.get(name) ?? [])) : '-',
    ]),
  ]
}
