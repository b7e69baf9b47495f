import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { outgoingList } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { queueName } from './connect.ts'
import { createDatabase, processed, watchedApp } from './counting.ts'

const rabbitmq = await requireServer('rabbitmq')

async function openThroughProxy() {
  const proxy = await startProxy('127.0.0.1', Number(new URL(rabbitmq.url).port))
  onTestFinished(() => proxy.stop())
  const options = { client, queue: queueName(), declare: { type: 'classic' as const } }
  return { proxy, transport: rabbitmqTransport({ ...options, url: proxy.url(rabbitmq.url) }) }
}

describe.skipIf(!rabbitmq.available)('stopping', () => {
  test('a broker that has frozen does not hold up the end, also while something is being published', async () => {
    const { proxy, transport } = await openThroughProxy()
    const running = watchedApp(await createDatabase(), transport)
    await transport.publish(outgoingList(20))
    await running.app.start()
    await running.until((events) => processed(events) >= 20, '20 effects')
    proxy.pause()
    const lost = transport.publish(outgoingList(5)).catch((error: unknown) => error)
    await running.app.stop({ withinMs: 15_000 })
    // Ours, not that of the client: it gave up when the transport was closed.
    expect(await lost).toMatchObject({ code: 'BROKER_UNREACHABLE' })
  }, 27_000)

  test('what was opened only to publish is closed', async () => {
    const opened: client.ChannelModel[] = []
    const connect = async () => {
      const connection = await client.connect(rabbitmq.url)
      opened.push(connection)
      return connection
    }
    const transport = rabbitmqTransport({ connect, queue: queueName(), declare: { type: 'classic' } })
    const app = justonce({ store: memoryStore(), transport })
    await app.publish('note.created', {})
    const closed = Promise.all(opened.map((connection) => new Promise((resolve) => connection.on('close', resolve))))
    await app.stop()
    await closed
    expect(opened).toHaveLength(1)
  }, 27_000)
})
