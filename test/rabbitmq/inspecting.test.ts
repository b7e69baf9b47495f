import { type ChannelModel, connect } from 'amqplib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Delivery } from '../../src/contracts/index.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

/** Reads a queue of three messages and settles none. */
async function readThree(open: () => Promise<ChannelModel>) {
  const queue = queueName()
  await withChannel(rabbitmq.url, async (channel) => {
    await channel.assertQueue(queue, { durable: true })
    for (const messageId of ['m1', 'm2', 'm3']) channel.sendToQueue(queue, Buffer.from('{}'), { messageId, type: 't' })
    await channel.waitForConfirms()
  })
  const opened: ChannelModel[] = []
  const options = {
    queue,
    async connect() {
      opened.push(await open())
      return opened.at(-1) as ChannelModel
    },
  }
  const transport = rabbitmqTransport(options as RabbitmqTransportOptions)
  const delivered: Delivery[] = []
  const ending = new AbortController()
  const reading = (async () => {
    for await (const some of transport.deliveries({ signal: ending.signal, maxInFlight: 10 })) delivered.push(...some)
  })()
  onTestFinished(async () => {
    ending.abort()
    await transport.close()
    await reading.catch(() => {})
    await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue))
  })
  await vi.waitFor(() => expect(delivered).toHaveLength(3), { timeout: 10_000 })
  return { queue, transport, delivered, opened }
}

describe.skipIf(!rabbitmq.available)('inspecting a queue', () => {
  test('needs no channel beyond the one that reads: where no other is allowed, the connection would be lost', async () => {
    const { queue, transport, delivered, opened } = await readThree(() => connect(`${rabbitmq.url}?channelMax=1`))
    await withChannel(rabbitmq.url, (channel) => channel.assertQueue(queue, { durable: true }))
    for (let time = 0; time < 3; time++) expect(await transport.inspect?.()).toMatchObject({ waiting: 0 })
    await transport.settle(delivered.splice(0), { kind: 'done' })
    await vi.waitFor(async () => {
      const { messageCount } = await withChannel(rabbitmq.url, (channel) => channel.checkQueue(queue))
      expect(messageCount).toBe(0)
    })
    expect(opened).toHaveLength(1)
    // Nothing came again.
    expect(delivered).toEqual([])
  })

  test('is not repeated at a broker that answers it by closing the channel', async () => {
    let asked = 0
    const { transport, delivered } = await readThree(async () => {
      const connection = await connect(rabbitmq.url)
      const { createChannel } = connection
      connection.createChannel = async () => {
        const channel = await createChannel.call(connection)
        // Refused to everybody, so it stands for a broker that does not allow the question.
        channel.checkQueue = async () => {
          asked++
          return (await channel.deleteExchange('amq.direct')) as never
        }
        return channel
      }
      return connection
    })
    await expect(transport.inspect?.()).rejects.toThrow('403')
    await vi.waitFor(() => expect(delivered).toHaveLength(6), { timeout: 10_000 })
    expect(await transport.inspect?.()).toMatchObject({ waiting: undefined })
    expect(asked).toBe(1)
    expect(delivered).toHaveLength(6)
  })

  test('opens no connection for a queue that is only published to', async () => {
    const opened: ChannelModel[] = []
    const open = async () => {
      opened.push(await connect(rabbitmq.url))
      return opened.at(-1) as ChannelModel
    }
    const transport = rabbitmqTransport({ queue: queueName(), connect: open } as RabbitmqTransportOptions)
    onTestFinished(() => transport.close())
    expect(await transport.inspect?.()).toMatchObject({ waiting: undefined })
    expect(opened).toEqual([])
  })
})
