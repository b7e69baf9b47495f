import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Position } from '../../src/contracts/index.ts'
import { isJustonceError } from '../../src/errors/index.ts'
import { idsOf, outgoing, outgoingList } from '../../src/testing/reading.ts'
import { type KafkaServer, startKafka } from '../servers/kafka.ts'
import { requireServer } from '../servers/require.ts'
import { aheadClient } from './ahead-client.ts'
import { type KafkaTopic, openTopic } from './open-kafka.ts'
import { readingOf } from './reading-of.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })
const kafka = await requireServer('kafka')

/** As after an unclean election: the leader lacks what was read, and has since appended more than it lacks. */
describe.skipIf(!kafka.available)('a log that was cut and has grown past the position again', () => {
  let controller: KafkaServer
  let server: KafkaServer
  let topic: KafkaTopic
  beforeAll(async () => {
    // The sooner it notices that a broker is gone, the sooner that one may come back, and lead anew.
    controller = await startKafka({ settings: { 'broker.session.timeout.ms': 2_000 } })
    server = await startKafka({ beside: controller, settings: { 'broker.heartbeat.interval.ms': 500 } })
  })
  afterAll(() => Promise.all([server?.stop(), controller?.stop()]))
  beforeEach(async () => {
    topic = await openTopic(controller.url, { partitions: 1, broker: 2 })
  })
  afterEach(() => topic.close())

  const folder = () => join(server.folder, 'data', `${topic.name}-0`)
  const log = () => join(folder(), '00000000000000000000.log')
  /** Sends 5, then 5 more, which the log will have lost. */
  const sendTen = async (): Promise<number> => {
    await topic.connect().publish(outgoingList(5))
    const { size } = statSync(log())
    await topic.connect().publish(outgoingList(10).slice(5))
    return size
  }
  const cutAt = async (size: number): Promise<readonly string[]> => {
    await server.kill9()
    truncateSync(log(), size)
    for (const name of readdirSync(folder())) if (/index$|snapshot$/.test(name)) rmSync(join(folder(), name))
    await server.restart()
    const sender = topic.connect()
    const others = Array.from({ length: 20 }, (_, index) => outgoing(`other-${index}`))
    await vi.waitFor(() => sender.publish(others), { timeout: 60_000, interval: 500 })
    return others.map(({ id }) => id)
  }

  test('by a process that was away: it goes on where the log was cut', async () => {
    const first = topic.connect()
    const size = await sendTen()
    await first.settle(await readingOf(first).take(10), { kind: 'done' })
    await first.close()
    const others = await cutAt(size)
    const second = topic.connect()
    expect(idsOf(await readingOf(second).take(20))).toEqual(others)
    expect(topic.errors.map(String)).toContainEqual(expect.stringContaining('was cut off at 5'))
  })

  test('by a process that has it open: it goes on where the log was cut', async () => {
    const transport = topic.connect()
    const size = await sendTen()
    const reading = readingOf(transport)
    const held = await reading.take(10)
    const others = await cutAt(size)
    await vi.waitFor(() => transport.settle(held, { kind: 'done' }), { timeout: 30_000, interval: 500 })
    expect(idsOf(await reading.take(20))).toEqual(others)
  })

  test('with the position in the store: it is for somebody to decide', async () => {
    const first = topic.connect({ dedup: 'position' })
    const size = await sendTen()
    const taken = await readingOf(first, { restore: async () => [undefined] }).take(10)
    const stored: Position | undefined = taken.at(-1)?.place?.to
    await first.settle(taken, { kind: 'done' })
    await first.close()
    await cutAt(size)
    const second = topic.connect({ dedup: 'position' })
    const ending = new AbortController()
    onTestFinished(() => ending.abort())
    const deliveries = second.deliveries({ maxInFlight: 100, signal: ending.signal, restore: async () => [stored] })
    await expect(deliveries[Symbol.asyncIterator]().next()).rejects.toThrow('was cut off at 5')
  })
})

/** As in a cluster that was restored to an older state: it has had fewer elections than the one that was read, and has grown since. */
describe.skipIf(!kafka.available)('a log without the leader epoch of what was read last', () => {
  let topic: KafkaTopic
  beforeEach(async () => {
    topic = await openTopic(kafka.url, { partitions: 1 })
  })
  afterEach(() => topic.close())

  /** Reads five of ten; the group has their position, with an epoch that the log has not reached. */
  const readFive = async (dedup: 'id' | 'position' = 'id'): Promise<Position | undefined> => {
    const first = topic.connect({ dedup, kafka: aheadClient('commit') })
    await first.publish(outgoingList(5))
    const restore = dedup === 'position' ? { restore: async () => [undefined] } : {}
    const taken = await readingOf(first, restore).take(5)
    await first.settle(taken, { kind: 'done' })
    await first.close()
    await topic.connect().publish(outgoingList(10).slice(5))
    return taken.at(-1)?.place?.to
  }
  const lost = () => topic.errors.filter((error) => isJustonceError(error, 'POSITION_LOST')).map(String)

  test('it is read from its oldest record, once', async () => {
    await readFive()
    const second = topic.connect()
    const taken = await readingOf(second).take(10)
    expect(idsOf(taken)).toEqual(outgoingList(10).map(({ id }) => id))
    expect(lost()).toEqual([expect.stringContaining('had leader epoch')])
    await second.settle(taken, { kind: 'done' })
    await second.close()
    const third = topic.connect()
    await third.publish([outgoing('m11')])
    expect(idsOf(await readingOf(third).take(1))).toEqual(['m11'])
  })

  test('with the position in the store: it is for somebody to decide, each time', async () => {
    const stored = await readFive('position')
    for (let time = 0; time < 2; time++) {
      const transport = topic.connect({ dedup: 'position' })
      const reading = readingOf(transport, { restore: async () => [stored] })
      await expect(reading.take(1)).rejects.toThrow('had leader epoch')
      await transport.close()
    }
  })

  test('a server that refuses epochs which it has sent itself is read on, and says so', async () => {
    const transport = topic.connect({ kafka: aheadClient('fetch') })
    const reading = readingOf(transport)
    for (const count of [5, 10, 15]) {
      const sent = outgoingList(count).slice(-5)
      await transport.publish(sent)
      const taken = await reading.take(5)
      expect(idsOf(taken)).toEqual(sent.map(({ id }) => id))
      await transport.settle(taken, { kind: 'done' })
    }
    await vi.waitFor(() => expect(lost()).toEqual([expect.stringContaining('which it has sent itself')]))
    await transport.close()
    const next = topic.connect({ kafka: aheadClient('fetch') })
    await next.publish([outgoing('m16')])
    expect(idsOf(await readingOf(next).take(1))).toEqual(['m16'])
  })
})
