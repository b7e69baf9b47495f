import * as client from 'amqplib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { TransportNotice } from '../../src/contracts/index.ts'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { type RabbitmqServer, startRabbitmq } from '../servers/rabbitmq.ts'
import { requireServer } from '../servers/require.ts'
import { queueName } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

describe.skipIf(!rabbitmq.available)('a consumer timeout', () => {
  let server: RabbitmqServer
  beforeAll(async () => {
    server = await startRabbitmq({ settings: { consumer_timeout: 1_000 }, erlang: '-rabbit channel_tick_interval 500' })
  }, 120_000)
  afterAll(() => server?.stop())

  test('is recognised, and it is said what to do', async () => {
    const transport = rabbitmqTransport({ client, url: server.url, queue: queueName(), declare: { type: 'quorum' } })
    onTestFinished(() => transport.close())
    await transport.publish([outgoing('m1')])
    const notices: TransportNotice[] = []
    const ending = new AbortController()
    onTestFinished(() => ending.abort())
    const reading = transport.deliveries({
      signal: ending.signal,
      maxInFlight: 10,
      notice: (notice) => notices.push(notice),
    })
    // It is taken, never settled, and comes again on the next channel.
    const taking = (async () => {
      let taken = 0
      for await (const deliveries of reading) {
        taken += deliveries.length
        if (taken > 1) return taken
      }
      return taken
    })()
    await vi.waitFor(() => expect(notices.map(({ code }) => code)).toContain('CONSUMER_TIMEOUT'), { timeout: 60_000 })
    expect(notices.find(({ code }) => code === 'CONSUMER_TIMEOUT')?.message).toContain('consumer_timeout')
    expect(await taking).toBe(2)
  }, 120_000)
})
