import { loadavg } from 'node:os'
import pg from 'pg'
import { startKafka } from '../test/servers/kafka.ts'
import { startPostgres } from '../test/servers/postgres.ts'
import { startRabbitmq } from '../test/servers/rabbitmq.ts'
import { concurrency, prefetch } from './brokers/consumers.ts'
import { kafkaWays } from './brokers/kafka.ts'
import { rabbitmqWays } from './brokers/rabbitmq.ts'
import { speedLines } from './failures/lines.ts'
import { interleaved, type Way } from './rounds.ts'
import type { BenchOptions, Row, Suite } from './suite.ts'
import { createTables } from './transfers/tables.ts'
import { makeWorkload, type Workload } from './transfers/workload.ts'

type Say = (line: string) => void
type WaysAt = (workload: Workload) => Way[] | Promise<Way[]>

/** One connection more than are ever busy, for whatever looks after the tables meanwhile. */
const poolSize = concurrency + 1

export const brokers: Suite = {
  name: 'brokers',
  about: 'transfers from RabbitMQ and Kafka into Postgres: a plain consumer of the same client, justonce',
  defaults: { rounds: 3, messages: 20_000 },
  quick: { rounds: 1, messages: 1_000 },

  async run(options, say) {
    const server = await startPostgres()
    const pool = new pg.Pool({ connectionString: await server.createDatabase('bench'), max: poolSize })
    try {
      await createTables(pool)
      say(
        `Postgres ${server.version}, fsync and synchronous_commit on; ${concurrency} in flight, ${prefetch} prefetched`,
      )
      const ways: Way[] = []
      const rows = [...(await atRabbitmq(pool, options, ways, say)), ...(await atKafka(pool, options, ways, say))]
      const title = 'Messages per second, from the broker to the acknowledgement of the committed effect'
      return { rows, tables: [{ title, lines: speedLines(rows, ways) }] }
    } finally {
      await pool.end()
      await server.stop()
    }
  },
}

async function atRabbitmq(pool: pg.Pool, options: BenchOptions, all: Way[], say: Say): Promise<readonly Row[]> {
  const server = await startRabbitmq()
  try {
    say(`RabbitMQ ${server.version}, a quorum queue`)
    return await compare((workload) => rabbitmqWays(server.url, pool, workload), options, all, say)
  } finally {
    await server.stop()
  }
}

async function atKafka(pool: pg.Pool, options: BenchOptions, all: Way[], say: Say): Promise<readonly Row[]> {
  const server = await startKafka()
  try {
    say(`Kafka ${server.version}, 8 partitions`)
    return await compare((workload) => kafkaWays(server.address, pool, workload), options, all, say)
  } finally {
    await server.stop()
  }
}

/** Nothing comes twice, so that every way of working has the same to do and has to leave the same behind. */
async function compare(waysAt: WaysAt, { rounds, messages }: BenchOptions, all: Way[], say: Say) {
  const few = makeWorkload({ messages: Math.min(2_000, messages), seed: 2, duplicateShare: 0 })
  say('warming up')
  for (const way of await waysAt(few)) await way.measure()
  const ways = await waysAt(makeWorkload({ messages, seed: 1, duplicateShare: 0 }))
  all.push(...ways)
  say(`load of the machine: ${loadavg()[0]?.toFixed(1)}`)
  return await interleaved(ways, rounds, say)
}
