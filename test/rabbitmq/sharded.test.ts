import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as client from 'amqplib'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'
import { openSharded, type Shard, type ShardedConfig, shards } from './fixtures/sharded-app.ts'

const rabbitmq = await requireServer('rabbitmq')
const postgres = await requireServer('postgres')
const program = fileURLToPath(new URL('./fixtures/sharded-consumer.ts', import.meta.url))
const each = process.env.JUSTONCE_LONG_TESTS === undefined ? 300 : 3_000

/** A queue for all, and three databases, everything behind proxies. */
async function openWorld() {
  const [queue, answers] = [queueName('orders'), queueName('answers')]
  const { hostname, port } = new URL(rabbitmq.url)
  const broker = await startProxy(hostname, Number(port))
  const proxies = {} as Record<Shard, FaultProxy>
  const stores = {} as Record<Shard, string>
  const direct = {} as Record<Shard, pg.Pool>
  for (const shard of shards) {
    const url = await createDatabase(postgres.url)
    direct[shard] = new pg.Pool({ connectionString: url, max: 2 })
    await direct[shard].query(
      'CREATE TABLE effects (id text, shard text); CREATE TABLE bills (key text PRIMARY KEY, id text)',
    )
    proxies[shard] = await startProxy(new URL(url).hostname, Number(new URL(url).port))
    stores[shard] = proxies[shard].url(url)
  }
  await withChannel(rabbitmq.url, (channel) => channel.assertQueue(answers, { durable: true }))
  onTestFinished(async () => {
    for (const shard of shards) {
      await direct[shard].end()
      await proxies[shard].stop()
    }
    await broker.stop()
    for (const name of [queue, answers]) await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(name))
  })
  const config: ShardedConfig = {
    ...{ broker: broker.url(rabbitmq.url), queue, answers, stores },
    // What is given back more than a few times is gone: a shard that is down must cost no deliveries.
    declare: { type: 'quorum', arguments: { 'x-delivery-limit': 20 } },
  }
  const idsIn = async (shard: Shard, table: 'effects' | 'bills'): Promise<readonly string[]> => {
    const { rows } = await direct[shard].query<{ id: string }>(`SELECT id FROM ${table} ORDER BY id COLLATE "C"`)
    return rows.map(({ id }) => id)
  }
  return {
    broker,
    proxies,
    config,
    idsIn,
    waiting: (name: string) =>
      withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue(name)).messageCount),
    /** Every third copy comes at once, and every fifth after everything else. */
    async publish() {
      const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, declare: config.declare as never })
      const all = shards.flatMap((shard) =>
        idsOf(shard).map((id) => ({ ...outgoing(id), type: 'order.paid', headers: { tenant: shard } })),
      )
      const copies = [
        ...all.flatMap((message, index) => (index % 3 === 0 ? [message, message] : [message])),
        ...all.filter((_, index) => index % 5 === 0),
      ]
      for (let from = 0; from < copies.length; from += 500) await transport.publish(copies.slice(from, from + 500))
      await transport.close()
      return copies.length
    },
    async counted() {
      const found = await Promise.all(
        shards.map(async (shard) => [
          shard,
          { effects: await idsIn(shard, 'effects'), bills: await idsIn(shard, 'bills') },
        ]),
      )
      return Object.fromEntries(found)
    },
  }
}

const idsOf = (shard: Shard) => Array.from({ length: each }, (_, index) => `${shard}-${index}`).sort()
const everything = () =>
  Object.fromEntries(shards.map((shard) => [shard, { effects: idsOf(shard), bills: idsOf(shard) }]))

/** The ids of what was published, without copies: a consumer of justonce sees each once. */
async function answersIn(queue: string): Promise<number> {
  return await withChannel(rabbitmq.url, async (channel) => {
    const orders = new Set<string>()
    const ids = new Set<string>()
    for (let message = await channel.get(queue); message !== false; message = await channel.get(queue)) {
      ids.add(String(message.properties.messageId))
      orders.add((JSON.parse(message.content.toString()) as { id: string }).id)
      channel.ack(message)
    }
    expect(ids.size).toBe(orders.size)
    return ids.size
  })
}

describe.skipIf(!rabbitmq.available || !postgres.available)(
  'three Postgres databases behind one queue of RabbitMQ',
  () => {
    test(`a database goes away, the broker's connections are cut, and both come back: ${each * 3} orders take effect once each`, async () => {
      const world = await openWorld()
      await world.publish()
      const app = openSharded(world.config)
      onTestFinished(() => app.end(5_000))
      await world.proxies.asia.refuse()
      await app.start()
      await expect
        .poll(async () => (await world.idsIn('us', 'effects')).length, { timeout: 60_000 })
        .toBeGreaterThan(each / 10)
      await world.proxies.us.refuse()
      world.proxies.us.cutAll()
      for (const _ of [1, 2, 3]) {
        world.broker.cutAll()
        await expect.poll(async () => (await app.apps.eu.health()).from, { timeout: 60_000 }).toBeDefined()
      }
      await expect.poll(() => world.idsIn('eu', 'bills'), { timeout: 90_000 }).toEqual(idsOf('eu'))
      expect((await world.idsIn('us', 'effects')).length).toBeLessThan(each)
      await world.proxies.us.accept()
      await world.proxies.asia.accept()
      await expect.poll(() => world.counted(), { timeout: 90_000 }).toEqual(everything())
      await expect.poll(() => world.waiting(world.config.queue), { timeout: 60_000 }).toBe(0)
      const letters = Object.values(await app.operations.letters.list())
      expect(letters).toEqual(Array(3).fill({ kind: 'answered', value: [] }))
      // What the relay had in hand when its database went away stays hidden until its lease is over.
      await expect
        .poll(() => Promise.all(shards.map(async (shard) => (await app.apps[shard].health()).lag?.outgoing)), {
          timeout: 90_000,
        })
        .toEqual([{}, {}, {}])
      expect(await answersIn(world.config.answers)).toBe(3 * each)
    }, 300_000)

    test(`two processes, killed and frozen in turns: ${each * 3} orders take effect once each`, async () => {
      const world = await openWorld()
      const sent = await world.publish()
      let heard = 0
      let wake = Promise.withResolvers<void>()
      const start = (): ChildProcess => {
        const child = spawn(process.execPath, [program, JSON.stringify(world.config)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        createInterface({ input: child.stdout! }).on('line', () => {
          heard++
          wake.resolve()
        })
        onTestFinished(() => void child.kill('SIGKILL'))
        return child
      }
      const untilHeard = async (count: number): Promise<void> => {
        while (heard < count) {
          wake = Promise.withResolvers()
          await wake.promise
        }
      }
      let [first, second] = [start(), start()]
      for (const share of [0.1, 0.25, 0.4]) {
        await untilHeard(each * 3 * share)
        first.kill('SIGSTOP')
        await untilHeard(each * 3 * (share + 0.05))
        second.kill('SIGKILL')
        await once(second, 'exit')
        first.kill('SIGCONT')
        ;[first, second] = [start(), first]
      }
      await expect.poll(() => world.counted(), { timeout: 120_000 }).toEqual(everything())
      for (const child of [first, second]) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        expect(await ended).toEqual([0, null])
      }
      // What was in hand at the end, and what was killed before it had sent.
      const last = openSharded(world.config)
      await last.start()
      await expect.poll(() => world.waiting(world.config.queue), { timeout: 60_000 }).toBe(0)
      await expect
        .poll(() => Promise.all(shards.map(async (shard) => (await last.apps[shard].health()).lag?.outgoing)), {
          timeout: 60_000,
        })
        .toEqual([{}, {}, {}])
      await last.end(10_000)
      expect(await world.counted()).toEqual(everything())
      expect(await answersIn(world.config.answers)).toBe(3 * each)
      expect(sent).toBeGreaterThan(each * 3 * 1.5)
    }, 400_000)
  },
)
