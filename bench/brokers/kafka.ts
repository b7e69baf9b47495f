import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import * as kafka from '@platformatic/kafka'
import type { Pool } from 'pg'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import type { Measured, Way } from '../rounds.ts'
import { emptyTables, isAsExpected } from '../transfers/tables.ts'
import type { Workload } from '../transfers/workload.ts'
import { consumeWithJustonce } from './consumers.ts'
import { consumePlainly } from './plain-kafka.ts'
import { publishAll } from './publish-all.ts'
import { stopwatch } from './stopwatch.ts'

type Consumer = 'plain' | 'id' | 'position'

interface Setup {
  readonly address: string
  readonly topic: string
  readonly pool: Pool
  readonly workload: Workload
}

/** Twice as many as are handled at once, so that nobody runs dry while a partition is being fetched. */
const partitions = Array.from({ length: 8 }, (_, partition) => partition)

/** One topic that holds everything; every measurement reads it from its start, as a new group. */
export async function kafkaWays(address: string, pool: Pool, workload: Workload): Promise<Way[]> {
  const topic = `transfers-${randomUUID()}`
  await createTopic(address, topic)
  const transport = kafkaTransport({ kafka, bootstrapServers: address, topics: [topic], group: 'nobody' })
  await publishAll(transport, workload)
  await transport.close()
  const run = (consumer: Consumer) => () => measure(consumer, { address, topic, pool, workload })
  return [
    { name: 'kafka-plain', against: 'kafka-plain', measure: run('plain') },
    { name: 'kafka-justonce', against: 'kafka-plain', goal: { atLeast: 2 }, measure: run('id') },
    { name: 'kafka-justonce-position', against: 'kafka-justonce', goal: { atLeast: 1 }, measure: run('position') },
  ]
}

async function measure(consumer: Consumer, { address, topic, pool, workload }: Setup): Promise<Measured> {
  const group = `transfers-${randomUUID()}`
  await emptyTables(pool)
  const watch = stopwatch(workload.deliveries.length)
  const running =
    consumer === 'plain'
      ? await consumePlainly({ address, topic, group }, { pool, watch })
      : await consumeWithJustonce(
          kafkaTransport({ kafka, bootstrapServers: address, topics: [topic], group, dedup: consumer }),
          { pool, watch },
        )
  const ms = await watch.done
  await running.stop()
  const committed = await committedBy(group, { address, topic })
  const correct = committed === workload.deliveries.length && (await isAsExpected(pool, workload, 'each-message-once'))
  return { deliveries: workload.deliveries.length, ms, correct }
}

async function committedBy(group: string, { address, topic }: Pick<Setup, 'address' | 'topic'>): Promise<number> {
  const onlooker = new kafka.Consumer({ clientId: 'bench', groupId: group, bootstrapBrokers: [address] })
  const committed = await onlooker.listCommittedOffsets({ topics: [{ topic, partitions }] })
  await onlooker.close(true)
  return (committed.get(topic) ?? []).reduce((sum, offset) => sum + Number(offset), 0)
}

async function createTopic(address: string, topic: string): Promise<void> {
  const admin = new kafka.Admin({ clientId: 'bench', bootstrapBrokers: [address] })
  await admin.createTopics({ topics: [topic], partitions: partitions.length, replicas: 1 })
  // The controller has it; the broker hears of it a little later.
  for (const until = performance.now() + 10_000; ; await pause(50)) {
    try {
      await admin.metadata({ topics: [topic], forceUpdate: true })
      break
    } catch (error) {
      if (performance.now() > until) throw error
    }
  }
  await admin.close()
}
