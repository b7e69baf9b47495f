import type { Socket } from 'node:net'
import { type ChannelModel, connect } from 'amqplib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { type RabbitmqServer, startRabbitmq } from '../servers/rabbitmq.ts'
import { requireBinaries } from '../servers/require.ts'
import { queueName } from './connect.ts'

const rabbitmq = await requireBinaries('rabbitmq')
let server: RabbitmqServer

beforeAll(async () => {
  // Always short of memory: it reads nothing more from a connection that has published.
  if (rabbitmq.available) server = await startRabbitmq({ settings: { 'vm_memory_high_watermark.absolute': '1MB' } })
}, 120_000)
afterAll(() => server?.stop())

/** A transport, and the sockets that it has opened. */
function open(url: string, options: Partial<RabbitmqTransportOptions> = {}) {
  const opened: ChannelModel[] = []
  const transport = rabbitmqTransport({
    queue: queueName(),
    declare: { type: 'classic' },
    ...options,
    async connect() {
      opened.push(await connect(url))
      return opened.at(-1) as ChannelModel
    },
  })
  onTestFinished(() => transport.close())
  return {
    transport,
    sockets: () => opened.map(({ connection }) => (connection as unknown as { stream: Socket }).stream),
  }
}

describe.skipIf(!rabbitmq.available)('a broker that takes nothing more', () => {
  test('says why, and so does publishing: at the first message, and while it cannot begin anew', async () => {
    const { transport } = open(server.url, { confirmTimeoutMs: 3_000 })
    const failure = { code: 'BROKER_UNREACHABLE', message: expect.stringContaining('low on memory') }
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject(failure)
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject(failure)
  })
})

describe.skipIf(!rabbitmq.available)('no socket keeps the process alive', () => {
  test('when a broker that takes nothing more is left', async () => {
    const { transport, sockets } = open(server.url, { confirmTimeoutMs: 1_000 })
    await expect(transport.publish([outgoing('m1')])).rejects.toThrow('no confirmation within 1000 ms')
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE' })
    await transport.close()
    await vi.waitFor(() => expect(sockets().map(({ destroyed }) => destroyed)).toEqual([true]))
  })
})
