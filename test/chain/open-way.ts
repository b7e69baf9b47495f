import type { Queue, Store, Transport } from '../../src/contracts/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { inputOf, type Role, type Way } from './config.ts'

/** What leads to a service: it reads from this, and the one before it sends to it. */
export async function openWay(way: Way, to: Role, store: Store): Promise<Transport> {
  const name = inputOf[to]
  if (way.kind === 'queue') {
    const having = store as Store & { readonly queue: Queue<unknown> }
    return queueTransport({ store: having, queue: name, visibilityMs: 2_000, pollMs: 50 })
  }
  if (way.kind === 'rabbitmq') {
    const { rabbitmqTransport } = await import('../../src/transports/rabbitmq/index.ts')
    return rabbitmqTransport({
      client: await import('amqplib'),
      url: way.url,
      queue: name,
      declare: { type: 'quorum' },
    })
  }
  const { kafkaTransport } = await import('../../src/transports/kafka/index.ts')
  return kafkaTransport({
    kafka: await import('@platformatic/kafka'),
    bootstrapServers: way.servers,
    topics: [name],
    group: name,
    sessionTimeoutMs: 2_000,
    handOverMs: 1_000,
  })
}
