import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Delivery } from '../../src/contracts/index.ts'
import { idsOf, outgoing, outgoingList, startReading } from '../../src/testing/reading.ts'
import { type RabbitmqTransportOptions, rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'
import { countEffects, createDatabase, processed, watchedApp } from './counting.ts'

const rabbitmq = await requireServer('rabbitmq')

/** Class 60 and the method, as they stand in a frame of AMQP; of the acknowledgement also its size. */
const basicAck = '\0\0\0\r\0\x3c\0\x50'
const basicPublish = '\0\x3c\0\x28'

type Given = Partial<RabbitmqTransportOptions> & { readonly heartbeat?: number }

async function open({ heartbeat, ...options }: Given = {}) {
  const proxy = await startProxy('127.0.0.1', Number(new URL(rabbitmq.url).port))
  onTestFinished(() => proxy.stop())
  const direct = { client, url: rabbitmq.url, queue: queueName(), declare: { type: 'classic' as const } }
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const url = `${proxy.url(rabbitmq.url)}${heartbeat === undefined ? '' : `?heartbeat=${heartbeat}`}`
  const transport = rabbitmqTransport({ ...direct, onError, ...options, url })
  const other = rabbitmqTransport(direct)
  await other.publish([])
  onTestFinished(() => transport.close())
  onTestFinished(() => other.close())
  return { proxy, transport, other, queue: direct.queue, errors }
}

describe.skipIf(!rabbitmq.available)('a cut connection', () => {
  test('while acknowledging: the messages come again, and settling the old deliveries touches nothing', async () => {
    const { proxy, transport, other, queue, errors } = await open()
    await other.publish(outgoingList(5))
    const reading = startReading({ connect: async () => transport, close: async () => {} }, transport)
    const first = await reading.take(5)
    const cut = proxy.cutWhenClientSends(basicAck, 'before')
    await transport.settle(first.slice(0, 3), { kind: 'done' })
    await cut
    const second = await reading.take(5)
    expect([...idsOf(second)].sort()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
    expect(second.every(({ redelivered }) => redelivered)).toBe(true)
    // Their tags are those of the new deliveries.
    await transport.settle(first, { kind: 'done' })
    await transport.settle(first, { kind: 'release' })
    await transport.settle(second.slice(0, 1), { kind: 'done' })
    await transport.close()
    expect(await messagesIn(queue)).toBe(4)
    expect(errors).toMatchObject([{ code: 'BROKER_UNREACHABLE' }])
  })

  test('while a confirmation is under way: publishing rejects, and the message is there', async () => {
    const { proxy, transport, queue } = await open()
    await transport.publish([outgoing('m0')])
    const cut = proxy.cutWhenClientSends(basicPublish, 'after-forward')
    const publishing = transport.publish([outgoing('m1')])
    await expect(publishing).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE' })
    await cut
    expect(await messagesIn(queue)).toBe(2)
    // As a relay does: again, under the same id.
    expect(await transport.publish([outgoing('m1')])).toEqual([{ kind: 'sent' }])
    expect(await messagesIn(queue)).toBe(3)
  })

  test('before the broker has the message: publishing rejects, and it is not there', async () => {
    const { proxy, transport, queue } = await open()
    await transport.publish([outgoing('m0')])
    const cut = proxy.cutWhenClientSends(basicPublish, 'before')
    await expect(transport.publish([outgoing('m1')])).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE' })
    await cut
    expect(await messagesIn(queue)).toBe(1)
  })

  test('a broker that does not confirm in time: publishing rejects and later goes on', async () => {
    const { proxy, transport } = await open({ confirmTimeoutMs: 3_000 })
    await transport.publish([outgoing('m0')])
    proxy.pause()
    await expect(transport.publish([outgoing('m1')])).rejects.toThrow('no confirmation within 3000 ms')
    proxy.resume()
    expect(await transport.publish([outgoing('m2')])).toEqual([{ kind: 'sent' }])
  })

  test('a network that stalls: heartbeats detect it, and reading goes on when it is back', async () => {
    const noticed = Promise.withResolvers<unknown>()
    const { proxy, transport, other } = await open({ heartbeat: 1, onError: noticed.resolve })
    await other.publish([outgoing('m1')])
    const reading = startReading({ connect: async () => transport, close: async () => {} }, transport)
    await reading.take(1)
    const again = reading.takeUntil(['m1', 'm2'])
    proxy.pause()
    expect(await noticed.promise).toMatchObject({ code: 'BROKER_UNREACHABLE' })
    // The broker gives the message to others only when it has noticed too.
    proxy.cutAll()
    proxy.resume()
    await other.publish([outgoing('m2')])
    expect([...idsOf(await again)].sort()).toEqual(['m1', 'm2'])
  })

  test('before it is handed over: another one is opened', async () => {
    const queue = queueName()
    const lostAtFirst = () => {
      let opened = 0
      return async () => {
        const connection = await client.connect(rabbitmq.url)
        connection.on('error', () => {})
        if (opened++ > 0) return connection
        const closed = new Promise((resolve) => connection.on('close', resolve))
        const { stream } = connection.connection as unknown as { stream: { destroy(error: Error): void } }
        stream.destroy(new Error('cut'))
        await closed
        return connection
      }
    }
    const other = rabbitmqTransport({ connect: lostAtFirst(), queue, declare: {} })
    onTestFinished(() => other.close())
    await expect(other.publish([outgoing('m1')])).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE' })
    expect(await other.publish([outgoing('m1')])).toEqual([{ kind: 'sent' }])
    const { app, until } = watchedApp(await createDatabase(), rabbitmqTransport({ connect: lostAtFirst(), queue }))
    await app.start()
    await until((events) => processed(events) === 1, 'the message')
  })

  test('many who publish at once share a channel, also when it has to be opened again', async () => {
    const { proxy, transport, queue } = await open()
    const publishAll = () =>
      Promise.allSettled(Array.from({ length: 20 }, (_, index) => transport.publish([outgoing(`m${index}`)])))
    const before = await publishAll()
    proxy.cutAll()
    await expect(transport.publish([outgoing('lost')])).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE' })
    const after = await publishAll()
    for (const each of [...before, ...after])
      expect(each).toMatchObject({ status: 'fulfilled', value: [{ kind: 'sent' }] })
    expect(await messagesIn(queue)).toBe(40)
  })

  test('again and again while an app works: every message takes effect once', async () => {
    const { proxy, transport, other } = await open()
    const path = await createDatabase()
    for (let from = 0; from < 1_000; from += 100) {
      await other.publish(Array.from({ length: 100 }, (_, index) => outgoing(`m${from + index}`)))
    }
    const running = watchedApp(path, transport)
    await running.app.start()
    for (const enough of [100, 300, 500, 700]) {
      await running.until((events) => processed(events) >= enough, `${enough} effects`)
      proxy.cutAll()
    }
    await running.until((events) => processed(events) >= 1_000, '1,000 effects')
    expect(countEffects(path)).toEqual({ effects: 1_000, messages: 1_000 })
  })

  test('a single active consumer gets back in order what it had, and what is released stays before what follows', async () => {
    const { proxy, transport, other } = await open({
      singleActiveConsumer: true,
      declare: { type: 'classic' },
      queue: queueName(),
    })
    await other.close()
    const ids = Array.from({ length: 20 }, (_, index) => `m${String(index).padStart(2, '0')}`)
    await transport.publish(ids.map((id) => outgoing(id, { key: 'a' })))
    const reading = startReading({ connect: async () => transport, close: async () => {} }, transport, 6)
    await reading.take(6)
    proxy.cutAll()
    const again: readonly Delivery[] = await reading.take(6)
    expect(idsOf(again)).toEqual(ids.slice(0, 6))
    await transport.settle(again.slice(0, 2), { kind: 'done' })
    await transport.settle(again.slice(3, 4), { kind: 'release' })
    const rest = await reading.takeUntil(ids.slice(2))
    // What was under way when one was released may have come before the channel was closed.
    const lastRun = idsOf(rest).slice(idsOf(rest).lastIndexOf('m02'))
    expect(lastRun).toEqual(ids.slice(2))
  })
})

function messagesIn(queue: string): Promise<number> {
  return withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue(queue)).messageCount)
}
