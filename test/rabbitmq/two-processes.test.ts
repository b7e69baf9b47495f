import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'
import { countEffects, createDatabase } from './counting.ts'

const rabbitmq = await requireServer('rabbitmq')
const program = fileURLToPath(new URL('./fixtures/consumer.ts', import.meta.url))
const count = process.env.JUSTONCE_LONG_TESTS === undefined ? 2_000 : 10_000

function startConsumer(queue: string, path: string, onProcessed: () => void): ChildProcess {
  const child = spawn(process.execPath, [program, rabbitmq.url, queue, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: child.stdout! }).on('line', onProcessed)
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function publishWithDuplicates(queue: string): Promise<void> {
  const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, declare: {} })
  const ids = Array.from({ length: count }, (_, index) => `m${index}`)
  // Half of the second copies follow at once, the others after everything else.
  const copies = [
    ...ids.flatMap((id, index) => (index % 20 < 3 ? [id, id] : [id])),
    ...ids.filter((_, index) => index % 20 >= 10 && index % 20 < 13),
  ]
  for (let from = 0; from < copies.length; from += 500) {
    await transport.publish(copies.slice(from, from + 500).map((id) => outgoing(id)))
  }
  await transport.close()
}

describe.skipIf(!rabbitmq.available)('RabbitMQ', () => {
  test(`two processes, one of them killed: ${count} messages with 30 % duplicates take effect once each`, async () => {
    const queue = queueName()
    const path = await createDatabase()
    await publishWithDuplicates(queue)
    const half = Promise.withResolvers<void>()
    const all = Promise.withResolvers<void>()
    let heard = 0
    const hear = (): void => {
      heard++
      if (heard > count / 2) half.resolve()
      // What the killed one had committed and not yet said is missing here.
      if (heard > count * 0.9 && countEffects(path).messages === count) all.resolve()
    }
    const [victim, survivor] = [startConsumer(queue, path, hear), startConsumer(queue, path, hear)]
    await half.promise
    const died = once(victim, 'exit')
    victim.kill('SIGKILL')
    await died
    await all.promise
    // What a consumer has in its hands when it has to stop goes back: the next one gets it.
    for (let consumer = survivor; ; consumer = startConsumer(queue, path, hear)) {
      await untilEmpty(queue)
      const ended = once(consumer, 'exit')
      consumer.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      if ((await messagesIn(queue)) === 0) break
    }
    expect(countEffects(path)).toEqual({ effects: count, messages: count })
  }, 180_000)
})

/** Nothing waits to be delivered; the rest is in the hands of the consumer. */
async function untilEmpty(queue: string): Promise<void> {
  while ((await messagesIn(queue)) > 0) await new Promise((resolve) => setTimeout(resolve, 50))
}

function messagesIn(queue: string): Promise<number> {
  return withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue(queue)).messageCount)
}
