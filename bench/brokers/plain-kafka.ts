import { Consumer, type Message } from '@platformatic/kafka'
import type { Pool } from 'pg'
import { applyBody, concurrency, type RunningConsumer } from './consumers.ts'
import type { Stopwatch } from './stopwatch.ts'

type Stored = Message<Buffer, Buffer, Buffer, Buffer>

const idHeader = Buffer.from('ce_id')

/**
 * As a careful application does it with this client: so many loops, each with its share of the partitions, in order, and
 * positions committed after the transactions; one commit on its way at a time, which takes along all that is done by then.
 */
export async function consumePlainly(
  { address, topic, group }: { readonly address: string; readonly topic: string; readonly group: string },
  { pool, watch }: { readonly pool: Pool; readonly watch: Stopwatch },
): Promise<RunningConsumer> {
  const consumer = new Consumer({ clientId: 'bench', groupId: group, bootstrapBrokers: [address] })
  const stream = await consumer.consume({
    topics: [topic],
    autocommit: false,
    mode: 'committed',
    fallbackMode: 'earliest',
    maxWaitTime: 100,
  })
  const lanes: Stored[][] = Array.from({ length: concurrency }, () => [])
  const busy = new Set<Stored[]>()
  const positions = new Map<number, bigint>()
  let [uncommitted, isCommitting] = [0, false]

  async function work(lane: Stored[]): Promise<void> {
    busy.add(lane)
    for (let message = lane.shift(); message !== undefined; message = lane.shift()) {
      await applyBody(pool, idOf(message), message.value)
      positions.set(message.partition, message.offset + 1n)
      uncommitted++
      if (!isCommitting) commit().catch(watch.failed)
    }
    busy.delete(lane)
  }

  async function commit(): Promise<void> {
    isCommitting = true
    while (uncommitted > 0) {
      const [offsets, messages] = [[...positions], uncommitted]
      positions.clear()
      uncommitted = 0
      await consumer.commit({
        offsets: offsets.map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: 0 })),
      })
      watch.acknowledged(messages)
    }
    isCommitting = false
  }

  /** Without a limit: the client gives one partition after the other, and a limit would leave some loops without work. */
  async function read(): Promise<void> {
    for await (const message of stream) {
      watch.arrived()
      const lane = lanes[message.partition % concurrency] as Stored[]
      lane.push(message)
      if (!busy.has(lane)) work(lane).catch(watch.failed)
    }
  }

  read().catch(watch.failed)
  return { stop: () => consumer.close(true) }
}

function idOf({ headers }: Stored): string {
  for (const [name, value] of headers) if (idHeader.equals(name)) return value.toString()
  throw new Error('A record has no id.')
}
