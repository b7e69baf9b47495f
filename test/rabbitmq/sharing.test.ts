import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { outgoing } from '../../src/testing/reading.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

describe.skipIf(!rabbitmq.available)('RabbitMQ', () => {
  const open = (queue: string) => rabbitmqTransport({ client, url: rabbitmq.url, queue, declare: {} })

  async function startApp(queue: string, run: () => unknown): Promise<void> {
    const app = justonce({ store: memoryStore(), transport: open(queue) })
    app.on('note.created', 'tag-note', run)
    onTestFinished(() => app.stop())
    await app.start()
  }

  const waitingIn = (queue: string) =>
    withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue(queue)).messageCount)

  async function fill(queue: string, count: number): Promise<void> {
    const transport = open(queue)
    onTestFinished(() => transport.close())
    await transport.publish(Array.from({ length: count }, (_, index) => outgoing(`m${index}`)))
  }

  test('a consumer whose handlers are slow leaves the rest to others, also to those who come later', async () => {
    const queue = queueName()
    await fill(queue, 300)
    const handled = { first: 0, second: 0 }
    const sleep = () => new Promise((resolve) => setTimeout(resolve, 20))
    const run = (who: keyof typeof handled) => async () => {
      await sleep()
      handled[who]++
    }
    await startApp(queue, run('first'))
    await eventually(async () => (handled.first > 5 ? true : undefined), 'the first ones')
    expect(await waitingIn(queue)).toBeGreaterThan(200)
    await startApp(queue, run('second'))
    await eventually(async () => (handled.first + handled.second >= 300 ? true : undefined), 'all of them')
    expect(handled.second).toBeGreaterThan(75)
  }, 60_000)

  test('a consumer whose handlers are quick is given more and more, and gets everything', async () => {
    const queue = queueName()
    await fill(queue, 3_000)
    let handled = 0
    await startApp(queue, () => void handled++)
    await eventually(async () => (handled >= 3_000 ? true : undefined), 'all of them')
    expect(await waitingIn(queue)).toBe(0)
  }, 60_000)
})
