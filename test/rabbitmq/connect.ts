import { randomUUID } from 'node:crypto'
import { type ChannelModel, connect } from 'amqplib'
import type { Transport } from '../../src/contracts/index.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'

/** An own queue per test lets tests share a server. */
export function queueName(what = 'notes'): string {
  return `${what}-${randomUUID()}`
}

/** A transport that can die as a killed process does: its sockets are gone and it never comes back. */
export function mortalTransport(
  url: string,
  options: RabbitmqTransportOptions,
): { readonly transport: Transport; die(): Promise<void> } {
  const opened: ChannelModel[] = []
  let isDead = false
  const transport = rabbitmqTransport({
    ...options,
    async connect() {
      if (isDead) throw new Error('this process is dead')
      const connection = await connect(url)
      opened.push(connection)
      return connection
    },
  })
  return {
    transport,
    async die() {
      isDead = true
      for (const { connection } of opened)
        (connection as unknown as { stream: { destroy(error: Error): void } }).stream.destroy(new Error('killed'))
    },
  }
}

/** Connects, runs one task on a channel and always disconnects. */
export async function withChannel<T>(
  url: string,
  task: (channel: Awaited<ReturnType<ChannelModel['createConfirmChannel']>>) => Promise<T>,
): Promise<T> {
  const connection = await connect(url)
  connection.on('error', () => {})
  try {
    const channel = await connection.createConfirmChannel()
    channel.on('error', () => {})
    return await task(channel)
  } finally {
    await connection.close().catch(() => {})
  }
}

/** A connection to a server that claims to be of another version: what it does is still what it really is. */
export async function connectClaiming(url: string, version: string): Promise<ChannelModel> {
  const connection = await connect(url)
  const { serverProperties } = connection.connection as unknown as { serverProperties: { version: string } }
  serverProperties.version = version
  return connection
}
