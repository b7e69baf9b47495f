import * as kafkaClient from '@platformatic/kafka'
import * as amqplib from 'amqplib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Publisher, Transport } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { kafkaTransport } from '../../src/transports/kafka/index.ts'
import {
  type RabbitmqTransportOptions,
  rabbitmqPublisher,
  rabbitmqTransport,
} from '../../src/transports/rabbitmq/index.ts'
import { openTopic } from '../kafka/open-kafka.ts'
import { connectClaiming, queueName, withChannel } from '../rabbitmq/connect.ts'
import { startKafka } from '../servers/kafka.ts'
import { requireBinaries, requireServer } from '../servers/require.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { doctor, type Found } from './doctor-findings.ts'
import { runHere } from './run-here.ts'

vi.setConfig({ testTimeout: 90_000 })
const [rabbitmq, kafka, kafkaBinaries] = [
  await requireServer('rabbitmq'),
  await requireServer('kafka'),
  await requireBinaries('kafka'),
]

/** What the doctor finds about brokers while an app reads from this one, whose handler does not end before the test. */
async function foundOf(
  transport: Transport,
  more: { readonly to?: Publisher; until?(found: readonly Found[]): boolean } = {},
): Promise<{ readonly found: readonly Found[]; readonly where: string[] }> {
  const folder = scratchFolder()
  const where = ['--store', `sqlite:${folder.file('shop.db')}`]
  const store = sqliteStore({ path: folder.file('shop.db') })
  const app = justonce({ store, from: transport, to: more.to ?? transport, log: false, heartbeat: { everyMs: 1_000 } })
  app.on('order.created', 'send-invoice', () => {})
  onTestFinished(async () => {
    await app.stop()
    await store.close()
    folder.remove()
  })
  await app.start()
  const asked = async () => {
    const found = await doctor(...where)
    const ofBrokers = found.filter(({ check }) => /^(BROKER_|MESSAGES_|brokers)/.test(check))
    return (more.until?.(ofBrokers) ?? ofBrokers.length > 0) ? ofBrokers : undefined
  }
  return { found: (await eventually(asked, 'what the broker says')) as readonly Found[], where }
}

describe.skipIf(!rabbitmq.available)('the doctor and RabbitMQ', () => {
  const reading = (more: Partial<RabbitmqTransportOptions>) => {
    const queue = queueName()
    onTestFinished(() => withChannel(rabbitmq.url, async (channel) => void (await channel.deleteQueue(queue))))
    return rabbitmqTransport({ client: amqplib, url: rabbitmq.url, queue, ...more } as RabbitmqTransportOptions)
  }

  test('a durable quorum queue is fine, and says how much waits in it', async () => {
    const { found, where } = await foundOf(reading({ declare: { type: 'quorum' } }))
    expect(found).toMatchObject([{ level: 'ok', check: 'brokers' }])
    const { out } = await runHere(['status', '--json', ...where])
    expect(Object.values(JSON.parse(out).overview.brokers)).toEqual([0])
  })

  test.for([
    { declare: { type: 'classic' }, found: [/^BROKER_MAY_LOSE .* is classic/] },
    {
      declare: { type: 'classic', durable: false },
      found: [/^BROKER_MAY_LOSE .* not durable/, /^BROKER_MAY_LOSE .* is classic/],
    },
    { declare: { deliveryLimit: 5 }, found: [/^MESSAGES_MAY_BE_DROPPED .* delivery limit of 5 and no dead-letter/] },
  ] as const)('$declare', async ({ declare, found }) => {
    const { found: seen } = await foundOf(reading({ declare }))
    expect(seen.map(({ level, check, found: text }) => `${check} ${text} ${level}`)).toEqual(
      found.map((each) => expect.stringMatching(new RegExp(`${each.source}.* problem$`))),
    )
  })

  test.for([
    { version: '3.13.7', more: {}, drops: false },
    { version: '4.1.0', more: {}, drops: true },
    { version: '4.1.0', more: { deadLetterQueue: 'dead' }, drops: false },
    { version: '4.1.0', more: { declare: { arguments: { 'x-delivery-limit': -1 } } }, drops: false },
  ] as const)('a server that claims to be $version (no real one), with $more', async ({ version, more, drops }) => {
    const deadLetterQueue = 'deadLetterQueue' in more ? queueName('dead') : undefined
    if (deadLetterQueue !== undefined)
      onTestFinished(() =>
        withChannel(rabbitmq.url, async (channel) => void (await channel.deleteQueue(deadLetterQueue))),
      )
    const connect = () => connectClaiming(rabbitmq.url, version)
    const other = { declare: {}, ...more, ...(deadLetterQueue !== undefined && { deadLetterQueue }) }
    const { found } = await foundOf(reading({ client: undefined, url: undefined, connect, ...other } as never))
    const dropped = { level: 'problem', check: 'MESSAGES_MAY_BE_DROPPED', found: expect.stringContaining(version) }
    expect(found).toMatchObject([drops ? dropped : { level: 'ok', check: 'brokers' }])
  })

  test('a queue that is not there is a problem, and the broker was not checked', async () => {
    const isTold = (found: readonly Found[]) => found.some(({ check }) => check === 'BROKER_NOT_CHECKED')
    const { where } = await foundOf(reading({}), { until: isTold })
    const found = await doctor(...where)
    const ofSource = { level: 'problem', check: 'sources', found: expect.stringContaining('no queue') }
    expect(found).toEqual(expect.arrayContaining([expect.objectContaining(ofSource)]))
    expect(found.filter(({ check }) => check === 'brokers')).toEqual([])
    const { out } = await runHere(['messages', 'show', 'm1', ...where])
    expect(out).toContain('cannot be read: The queue ')
  })

  test('nobody knows which queues an exchange has', async () => {
    const to = rabbitmqPublisher({ client: amqplib, url: rabbitmq.url, exchange: 'amq.topic' } as never)
    const { found } = await foundOf(reading({ declare: {} }), { to })
    expect(found).toMatchObject([
      { level: 'notice', check: 'BROKER_NOT_CHECKED', found: expect.stringContaining('The exchange "amq.topic"') },
    ])
  })

  test('a delivery limit with a dead-letter queue is fine; a queue that somebody else declares cannot be checked', async () => {
    const deadLetterQueue = queueName('dead')
    onTestFinished(() =>
      withChannel(rabbitmq.url, async (channel) => void (await channel.deleteQueue(deadLetterQueue))),
    )
    const limited = reading({ declare: { deliveryLimit: 5 }, deadLetterQueue })
    expect((await foundOf(limited)).found).toMatchObject([{ level: 'ok' }])
    const foreign = reading({})
    await withChannel(rabbitmq.url, (channel) => channel.assertQueue(foreign.name.slice('rabbitmq:'.length)))
    expect((await foundOf(foreign)).found).toMatchObject([{ level: 'notice', check: 'BROKER_NOT_CHECKED' }])
  })
})

describe.skipIf(!kafka.available)('the doctor and Kafka', () => {
  test('a topic with one replica may lose records; the group is as far behind as it has not read', async () => {
    const topic = await openTopic(kafka.url, { partitions: 2 })
    onTestFinished(() => topic.close())
    const { found } = await foundOf(topic.connect())
    expect(found).toMatchObject([
      { level: 'problem', check: 'BROKER_MAY_LOSE', found: `The topic ${topic.name} has partitions with 1 replica.` },
    ])
    const idle = topic.connect({ group: `idle-${topic.name}` })
    await idle.publish(
      [1, 2, 3].map((id) => ({
        id: `m${id}`,
        type: 't',
        body: new Uint8Array(),
        headers: {},
        key: undefined,
        sentAt: new Date(),
        expiresAt: undefined,
      })),
    )
    expect((await idle.inspect?.())?.waiting).toBe(3)
  })
})

describe.skipIf(!kafkaBinaries.available)('the doctor and a Kafka of two brokers', () => {
  test('two replicas that must both have a record are fine; one that suffices is not, nor is an unclean election', async () => {
    const first = await startKafka()
    onTestFinished(() => first.stop())
    const second = await startKafka({ beside: first })
    onTestFinished(() => second.stop())
    const admin = new kafkaClient.Admin({ clientId: 'doctor', bootstrapBrokers: [new URL(first.url).host] })
    onTestFinished(() => admin.close() as Promise<void>)
    const stateOf = async (configs: Record<string, string>) => {
      const name = queueName('topic')
      const settings = Object.entries(configs).map(([key, value]) => ({ name: key, value }))
      const create = () => admin.createTopics({ topics: [name], partitions: 1, replicas: 2, configs: settings })
      await eventually(
        async () =>
          await create().then(
            () => true,
            () => undefined,
          ),
        'both brokers',
      )
      const bootstrapServers = new URL(first.url).host
      const transport = kafkaTransport({ kafka: kafkaClient, bootstrapServers, topics: [name], group: 'g' })
      onTestFinished(() => transport.close())
      const inspect = async () => await transport.inspect?.().catch(() => undefined)
      return (await eventually(inspect, 'the new topic'))?.warnings.map(({ message }) => message)
    }
    expect(await stateOf({ 'min.insync.replicas': '2' })).toEqual([])
    expect(await stateOf({ 'min.insync.replicas': '1' })).toEqual([expect.stringContaining('only one replica has')])
    expect(await stateOf({ 'min.insync.replicas': '2', 'unclean.leader.election.enable': 'true' })).toEqual([
      expect.stringContaining('may elect a leader that lacks records'),
    ])
  })
})
