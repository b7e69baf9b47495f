import { randomUUID } from 'node:crypto'
import * as kafka from '@platformatic/kafka'
import { expect, vi } from 'vitest'
import type { Transport } from '../../src/contracts/index.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { type KafkaTransportOptions, kafkaTransport } from '../../src/transports/kafka/index.ts'

export type ChosenOptions = Partial<Omit<KafkaTransportOptions, 'bootstrapServers' | 'topics'>>

/** A topic of its own on a running broker, and a group of its own that reads it. */
export interface KafkaTopic {
  readonly name: string
  readonly group: string
  readonly address: string
  readonly errors: unknown[]
  connect(options?: ChosenOptions): Transport
  admin<T>(task: (admin: kafka.Admin) => Promise<T>): Promise<T>
  /** Deletes it and makes it again: another topic with the same name. */
  replace(): Promise<void>
  /** Deletes it, and waits until the broker does not know it any more. */
  remove(): Promise<void>
  close(): Promise<void>
}

export interface TopicOptions {
  readonly partitions?: number
  readonly configs?: Record<string, string>
  /** The one that has all of it. Default: whichever. */
  readonly broker?: number
}

export async function openTopic(
  url: string,
  { partitions = 4, configs = {}, broker }: TopicOptions = {},
): Promise<KafkaTopic> {
  const address = new URL(url).host
  const name = `t-${randomUUID()}`
  const connections: Transport[] = []
  const errors: unknown[] = []
  const admin = async <T>(task: (admin: kafka.Admin) => Promise<T>): Promise<T> => {
    const client = new kafka.Admin({ clientId: 'justonce-tests', bootstrapBrokers: [address] })
    try {
      return await task(client)
    } finally {
      await client.close()
    }
  }
  const idOnBroker = (client: kafka.Admin) =>
    client.metadata({ topics: [name], forceUpdate: true }).then(({ topics }) => topics.get(name)?.id)
  const create = (former?: string) =>
    admin(async (client) => {
      await client.createTopics({
        topics: [name],
        ...(broker === undefined
          ? { partitions, replicas: 1 }
          : { partitions: -1, replicas: -1, assignments: allOn(broker, partitions) }),
        configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
      })
      // The controller has it; the broker hears of it, and of the end of a former one, a little later.
      await vi.waitFor(async () => expect(await idOnBroker(client)).not.toBe(former), { timeout: 20_000 })
    })
  await create()
  return {
    name,
    group: `g-${name}`,
    address,
    errors,
    admin,
    connect(options = {}) {
      const transport = kafkaTransport({
        kafka,
        bootstrapServers: address,
        topics: [name],
        group: `g-${name}`,
        handOverMs: 2_000,
        onError: (error) => errors.push(error),
        ...options,
      })
      connections.push(transport)
      return transport
    },
    async replace() {
      const former = await admin(idOnBroker)
      await admin((client) => client.deleteTopics({ topics: [name] }))
      await create(former)
    },
    async remove() {
      await admin(async (client) => {
        await client.deleteTopics({ topics: [name] })
        await vi.waitFor(() => expect(idOnBroker(client)).rejects.toThrow(), { timeout: 20_000 })
      })
    },
    async close() {
      await Promise.all(connections.map((transport) => transport.close()))
      await admin((client) => client.deleteTopics({ topics: [name] }))
    },
  }
}

function allOn(broker: number, partitions: number) {
  return Array.from({ length: partitions }, (_, partition) => ({ partition, brokers: [broker] }))
}

/** For the conformance cases. */
export async function openCaseContext(url: string, options: ChosenOptions): Promise<TransportCaseContext> {
  const topic = await openTopic(url)
  return {
    patienceMs: 15_000,
    limitsBytes: true,
    refused: { body: new Uint8Array(3_000_000) },
    connect: async () => topic.connect(options),
    async connectMortal() {
      const { module, die } = mortalClient()
      return { transport: topic.connect({ ...options, kafka: module, sessionTimeoutMs: 1_000 }), die }
    },
    close: () => topic.close(),
  }
}

/** A client that can lose all its connections at once, as in a kill: the group is not left, nothing more is sent. */
export function mortalClient(): { readonly module: KafkaTransportOptions['kafka']; die(): Promise<void> } {
  const consumers: kafka.Consumer[] = []
  class MortalConsumer extends kafka.Consumer<Buffer, Buffer, Buffer, Buffer> {
    constructor(options: kafka.ConsumerOptions<Buffer, Buffer, Buffer, Buffer>) {
      super(options)
      consumers.push(this)
    }
  }
  return {
    module: { ...kafka, Consumer: MortalConsumer },
    async die() {
      // The close of the base class closes connections and nothing else.
      for (const consumer of consumers) await kafka.Base.prototype.close.call(consumer)
    },
  }
}

/** A client that says when it has heard of a rebalance. */
export function watchedClient(): {
  readonly module: KafkaTransportOptions['kafka']
  readonly rebalancing: Promise<void>
} {
  const { promise, resolve } = Promise.withResolvers<void>()
  class WatchedConsumer extends kafka.Consumer<Buffer, Buffer, Buffer, Buffer> {
    constructor(options: kafka.ConsumerOptions<Buffer, Buffer, Buffer, Buffer>) {
      super(options)
      this.on('consumer:group:rebalance', () => resolve())
    }
  }
  return { module: { ...kafka, Consumer: WatchedConsumer }, rebalancing: promise }
}
