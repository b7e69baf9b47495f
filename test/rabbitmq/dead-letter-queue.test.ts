import * as client from 'amqplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { mortalTransport, queueName, withChannel } from './connect.ts'
import { countEffects, createDatabase, processed, watchedApp } from './counting.ts'

const rabbitmq = await requireServer('rabbitmq')

describe.skipIf(!rabbitmq.available)('what RabbitMQ gives up', () => {
  test.each(['quorum', 'classic'] as const)('%s queue: becomes a dead letter with its history', async (type) => {
    const queue = queueName()
    const options = { queue, declare: { type }, deadLetterQueue: `${queue}.dead` }
    const transport = rabbitmqTransport({ ...options, client, url: rabbitmq.url })
    await transport.publish([outgoing('bad', { headers: { of: 'alice' } }), outgoing('good')])
    await withChannel(rabbitmq.url, async (channel) => {
      const message = await channel.get(queue)
      if (message !== false) channel.reject(message, false)
      await channel.checkQueue(queue)
    })
    const path = await createDatabase()
    const { app, events, until } = watchedApp(path, transport)
    await app.start()
    await until(
      (all) => processed(all) === 1 && all.some(({ kind }) => kind === 'parked'),
      'an effect and a dead letter',
    )
    expect(events.filter(({ kind }) => kind === 'parked')).toMatchObject([{ state: 'dead' }])
    const [letter] = await app.operations.letters.list({})
    expect(letter).toMatchObject({ messageId: 'bad', source: `rabbitmq:${queue}.dead`, body: { id: 'bad' } })
    expect(letter).toMatchObject({ type: 'note.created', reason: 'BROKER_GAVE_UP', headers: { of: 'alice' } })
    expect(JSON.parse(letter?.headers['x-death'] ?? '')).toMatchObject([{ queue, reason: 'rejected', count: 1 }])
    expect(countEffects(path)).toEqual({ effects: 1, messages: 1 })
  })

  test('a queue for it that is missing, or is deleted, stops nothing else, and is read once it is there', async () => {
    const queue = queueName()
    const dead = `${queue}.dead`
    await withChannel(rabbitmq.url, (channel) => channel.assertQueue(queue))
    const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, deadLetterQueue: dead })
    const { app, until } = watchedApp(await createDatabase(), transport)
    await app.start()
    for (const round of [1, 2]) {
      await transport.publish([outgoing(`good${round}`)])
      await until((all) => processed(all) === round, `effect ${round}`)
      await until(
        (all) => all.filter((each) => each.kind === 'transport-notice' && each.message.includes(dead)).length >= round,
        `notice ${round}`,
      )
      await withChannel(rabbitmq.url, async (channel) => {
        await channel.assertQueue(dead)
        channel.sendToQueue(dead, Buffer.from('{}'), { messageId: `bad${round}`, type: 'note.created' })
        await channel.waitForConfirms()
      })
      await until((all) => all.filter(({ kind }) => kind === 'parked').length === round, `dead letter ${round}`)
      await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(dead))
    }
  }, 120_000)

  test('a queue for it that another connection has locked for a while is read once it is free', async () => {
    const queue = queueName()
    const dead = `${queue}.dead`
    await withChannel(rabbitmq.url, (channel) => channel.assertQueue(queue))
    const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, deadLetterQueue: dead })
    const { app, until } = watchedApp(await createDatabase(), transport)
    await app.start()
    const said = (text: string) =>
      until(
        (all) =>
          all.some(
            (each) => each.kind === 'transport-notice' && each.message.includes(dead) && each.message.includes(text),
          ),
        text,
      )
    await said('NOT_FOUND')
    await withChannel(rabbitmq.url, async (channel) => {
      await channel.assertQueue(dead, { exclusive: true, durable: false })
      await said('RESOURCE_LOCKED')
    })
    await withChannel(rabbitmq.url, async (channel) => {
      await channel.assertQueue(dead)
      channel.sendToQueue(dead, Buffer.from('{}'), { messageId: 'bad', type: 'note.created' })
      await channel.waitForConfirms()
    })
    await until((all) => all.some(({ kind }) => kind === 'parked'), 'a dead letter')
  }, 120_000)

  test('a quorum queue gives up what too many consumers died with', async () => {
    const queue = queueName()
    const options = { queue, declare: { type: 'quorum', deliveryLimit: 1 }, deadLetterQueue: `${queue}.dead` } as const
    const transport = rabbitmqTransport({ ...options, client, url: rabbitmq.url })
    onTestFinished(() => transport.close())
    await transport.publish([outgoing('deadly')])
    for (const count of [1, 2]) {
      const { transport: victim, die } = mortalTransport(rabbitmq.url, { queue, queueType: 'quorum' })
      for await (const deliveries of victim.deliveries({ signal: new AbortController().signal, maxInFlight: 10 })) {
        expect(deliveries.map((each) => each.count)).toEqual([count])
        break
      }
      await die()
    }
    for await (const [delivery] of transport.deliveries({ signal: new AbortController().signal, maxInFlight: 10 })) {
      expect(delivery?.message).toMatchObject({ id: 'deadly', source: `rabbitmq:${queue}.dead` })
      expect(JSON.parse(delivery?.message.headers['x-death'] ?? '')).toMatchObject([{ reason: 'delivery_limit' }])
      break
    }
  })
})
