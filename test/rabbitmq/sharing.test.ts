import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Transport } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { growingAppetite } from '../../src/testing/growing-appetite.ts'
import { outgoing, startReading } from '../../src/testing/reading.ts'
import { eventually, gate } from '../../src/testing/waiting.ts'
import { type DeclareOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')

describe.skipIf(!rabbitmq.available)('RabbitMQ', () => {
  const open = (queue: string, declare: DeclareOptions = {}) =>
    rabbitmqTransport({ client, url: rabbitmq.url, queue, declare })

  async function startApp(queue: string, run: () => unknown): Promise<void> {
    const app = justonce({ store: memoryStore(), transport: open(queue) })
    app.on('note.created', 'tag-note', run)
    onTestFinished(() => app.stop())
    await app.start()
  }

  const waitingIn = (queue: string) =>
    withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue(queue)).messageCount)

  async function fill(queue: string, count: number, declare?: DeclareOptions): Promise<void> {
    const transport = open(queue, declare)
    onTestFinished(() => transport.close())
    await transport.publish(Array.from({ length: count }, (_, index) => outgoing(`m${index}`)))
  }

  test('a consumer whose handlers are slow leaves the rest to others, also to those who come later', async () => {
    const queue = queueName()
    await fill(queue, 300)
    const handled = { first: 0, second: 0 }
    const bothAreThere = gate()
    const run = (who: keyof typeof handled) => async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (who === 'second') bothAreThere.open()
      // However long the second takes to come, as much is left for it.
      else if (handled.first > 5) await bothAreThere.opened
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

  test('no more is unsettled than may be, however often more is wanted and then less', async () => {
    const queue = queueName()
    // Quorum queues say only every few seconds how many consumers they have.
    const declare = { type: 'classic' } as const
    await fill(queue, 200, declare)
    const transport = open(queue, declare)
    onTestFinished(() => transport.close())
    const { appetite, want } = growingAppetite(4)
    const hungry = { ...transport, deliveries: (given: Reading) => transport.deliveries({ ...given, appetite }) }
    const reading = startReading({ connect: async () => transport, close: async () => {} }, hungry, 20)
    const consumers = () =>
      withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue(queue)).consumerCount)
    let taken = [...(await reading.take(4))]
    for (let round = 0; round < 4; round++) {
      want(20)
      taken = [...taken, ...(await reading.take(20 - taken.length))]
      want(4)
      await eventually(async () => ((await consumers()) === 1 ? true : undefined), 'the first consumer alone')
      want(20)
      await transport.settle(taken.splice(0, 10), { kind: 'done' })
    }
    taken = [...taken, ...(await reading.take(20 - taken.length))]
    expect(await waitingIn(queue)).toBe(200 - 40 - 20)
  }, 60_000)
})

type Reading = Parameters<Transport['deliveries']>[0]
