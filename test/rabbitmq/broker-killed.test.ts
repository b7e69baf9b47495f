import * as client from 'amqplib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { type RabbitmqServer, startRabbitmq } from '../servers/rabbitmq.ts'
import { requireBinaries } from '../servers/require.ts'
import { queueName } from './connect.ts'
import { countEffects, createDatabase, processed, watchedApp } from './counting.ts'

const rabbitmq = await requireBinaries('rabbitmq')
let server: RabbitmqServer

beforeAll(async () => {
  if (rabbitmq.available) server = await startRabbitmq({ settings: { max_message_size: 200_000 } })
})
afterAll(() => server?.stop())

describe.skipIf(!rabbitmq.available)('a broker of its own', () => {
  test.each(['quorum', 'classic'] as const)(
    '%s queue: killed with messages in flight and started again, nothing is lost and nothing runs twice',
    async (type) => {
      const path = await createDatabase()
      const errors: unknown[] = []
      const options = { client, url: server.url, queue: queueName(), declare: { type } }
      const transport = rabbitmqTransport({ ...options, onError: (error) => void errors.push(error) })
      const publisher = rabbitmqTransport(options)
      const ids = Array.from({ length: 1_000 }, (_, index) => `m${index}`)
      for (let from = 0; from < ids.length; from += 100) {
        const results = await publisher.publish(ids.slice(from, from + 100).map((id) => outgoing(id)))
        expect(results.every(({ kind }) => kind === 'sent')).toBe(true)
      }
      // A broker writes down a few seconds late that a queue was declared, and who leads it, or when it ends in good order:
      // killed before that, the queue would be declared anew, and be empty.
      await server.restart()
      const running = watchedApp(path, transport)
      await running.app.start()
      await running.until((events) => processed(events) >= 200, '200 effects')
      await server.kill9()
      // While nobody answers, whether it was sent is not known.
      await expect(publisher.publish([outgoing('late')])).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE' })
      await server.restart()
      expect(await publisher.publish([outgoing('late')])).toEqual([{ kind: 'sent' }])
      await running.until((events) => processed(events) >= 1_001, '1,001 effects')
      await publisher.close()
      expect(countEffects(path)).toEqual({ effects: 1_001, messages: 1_001 })
      expect(errors.length).toBeGreaterThan(0)
    },
    120_000,
  )

  test('a message that the broker finds too large is refused, and those published with it are sent', async () => {
    const transport = rabbitmqTransport({ client, url: server.url, queue: queueName(), declare: {} })
    const large = outgoing('large', { body: new Uint8Array(300_000) })
    const results = await transport.publish([outgoing('m1'), large, outgoing('m2')])
    expect(results.map(({ kind }) => kind)).toEqual(['sent', 'refused', 'sent'])
    expect(results[1]).toMatchObject({ error: { code: 'PUBLISH_REFUSED' } })
    expect(await transport.publish([outgoing('m3')])).toEqual([{ kind: 'sent' }])
    await transport.close()
  })
})
