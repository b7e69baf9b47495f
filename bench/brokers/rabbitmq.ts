import { randomUUID } from 'node:crypto'
import * as client from 'amqplib'
import type { Pool } from 'pg'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import type { Measured, Way } from '../rounds.ts'
import { emptyTables, isAsExpected } from '../transfers/tables.ts'
import type { Workload } from '../transfers/workload.ts'
import { consumeWithJustonce } from './consumers.ts'
import { consumePlainly } from './plain-rabbitmq.ts'
import { publishAll } from './publish-all.ts'
import { stopwatch } from './stopwatch.ts'

type Consumer = 'plain' | 'justonce'

/** Quorum queues, a new one for every measurement. */
export function rabbitmqWays(url: string, pool: Pool, workload: Workload): Way[] {
  const way = (consumer: Consumer): Way => ({
    name: `rabbitmq-${consumer}`,
    against: 'rabbitmq-plain',
    ...(consumer === 'justonce' && { goal: { atLeast: 2 } }),
    measure: () => measure(consumer, { url, pool, workload }),
  })
  return [way('plain'), way('justonce')]
}

interface Setup {
  readonly url: string
  readonly pool: Pool
  readonly workload: Workload
}

async function measure(consumer: Consumer, { url, pool, workload }: Setup): Promise<Measured> {
  const queue = `transfers-${randomUUID()}`
  const transport = rabbitmqTransport({ client, url, queue, declare: { type: 'quorum' } })
  await publishAll(transport, workload)
  await emptyTables(pool)
  const watch = stopwatch(workload.deliveries.length)
  const running =
    consumer === 'plain'
      ? await consumePlainly({ url, queue }, { pool, watch })
      : await consumeWithJustonce(transport, { pool, watch })
  const ms = await watch.done
  await running.stop()
  await transport.close()
  const left = await deleteQueue(url, queue)
  const correct = left === 0 && (await isAsExpected(pool, workload, 'each-message-once'))
  return { deliveries: workload.deliveries.length, ms, correct }
}

/** Resolves to the number of messages that were still in it: whatever is not acknowledged is back by now. */
async function deleteQueue(url: string, queue: string): Promise<number> {
  const connection = await client.connect(url)
  const channel = await connection.createChannel()
  const { messageCount } = await channel.deleteQueue(queue)
  await connection.close()
  return messageCount
}
