import { type ConsumeMessage, connect } from 'amqplib'
import type { Pool } from 'pg'
import { applyBody, concurrency, prefetch, type RunningConsumer } from './consumers.ts'
import type { Stopwatch } from './stopwatch.ts'

/** As it is usually written with amqplib: so many loops, each with a message, its transaction and its acknowledgement. */
export async function consumePlainly(
  { url, queue }: { readonly url: string; readonly queue: string },
  { pool, watch }: { readonly pool: Pool; readonly watch: Stopwatch },
): Promise<RunningConsumer> {
  const connection = await connect(url)
  const channel = await connection.createChannel()
  const waiting: ConsumeMessage[] = []
  let running = 0

  async function work(): Promise<void> {
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
      await applyBody(pool, message.properties.messageId, message.content)
      channel.ack(message)
      watch.acknowledged(1)
    }
    running--
  }

  await channel.prefetch(prefetch)
  await channel.consume(queue, (message) => {
    if (message === null) return watch.failed(new Error('The queue was deleted.'))
    watch.arrived()
    waiting.push(message)
    if (running === concurrency) return
    running++
    work().catch(watch.failed)
  })
  return {
    async stop() {
      await channel.close()
      await connection.close()
    },
  }
}
