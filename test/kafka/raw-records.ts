import * as kafka from '@platformatic/kafka'
import type { KafkaTopic } from './open-kafka.ts'

export interface RawRecord {
  readonly key?: Buffer
  readonly partition?: number
  readonly value: Buffer | null
  readonly timestamp?: bigint
  readonly headers?: ReadonlyMap<Buffer, Buffer>
}

/** Records as any other program may send them. */
export async function sendRaw({ address, name }: KafkaTopic, records: readonly RawRecord[]): Promise<void> {
  const producer = new kafka.Producer({ clientId: 'another-program', bootstrapBrokers: [address] })
  try {
    await producer.send({ acks: -1, messages: records.map((record) => toMessage(name, record)) })
  } finally {
    await producer.close()
  }
}

export async function sendTransaction(
  { address, name }: KafkaTopic,
  ids: readonly string[],
  end: 'commit' | 'abort',
): Promise<void> {
  const producer = new kafka.Producer({
    clientId: 'another-program',
    bootstrapBrokers: [address],
    idempotent: true,
    transactionalId: `${name}-${end}`,
  })
  try {
    const transaction = await producer.beginTransaction()
    const headers = (id: string) => new Map([[Buffer.from('ce_id'), Buffer.from(id)]])
    await transaction.send({
      messages: ids.map((id) => toMessage(name, { value: Buffer.from('{}'), headers: headers(id) })),
    })
    await transaction[end]()
  } finally {
    await producer.close()
  }
}

function toMessage(topic: string, { key, partition, value, timestamp, headers }: RawRecord) {
  return {
    topic,
    // The client's types do not know tombstones, the client does.
    value: value as Buffer,
    ...(key !== undefined && { key }),
    ...(partition !== undefined && { partition }),
    ...(timestamp !== undefined && { timestamp }),
    ...(headers !== undefined && { headers: new Map(headers) }),
  }
}

/** An event with nothing but an id, in this very partition. */
export function eventIn(partition: number, id: string): RawRecord {
  return { partition, value: Buffer.from('{}'), headers: new Map([[Buffer.from('ce_id'), Buffer.from(id)]]) }
}
