import { randomUUID } from 'node:crypto'
import * as kafka from '@platformatic/kafka'
import { justonce, messages } from 'justonce'
import { kafkaTransport } from 'justonce/kafka'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'

const bootstrapServers = process.env.KAFKA ?? 'localhost:9092'
const topic = `payments-${randomUUID()}`
const group = `booking-${topic}`
const admin = new kafka.Admin({ clientId: 'example', bootstrapBrokers: [bootstrapServers] })
const store = sqliteStore({ path: ':memory:' })

// A service that books payments. Its positions are rows of its own database, and advance in the transaction of the booking.
async function bookUntil(expected: number, more: readonly number[]): Promise<number> {
  const enough = Promise.withResolvers<void>()
  const transport = kafkaTransport({
    kafka,
    bootstrapServers,
    topics: [topic],
    group,
    dedup: 'position',
    from: 'earliest',
  })
  const app = justonce({ store, transport, messages: messages<{ 'payment.made': { amount: number } }>() })
  let booked = 0
  app.on('payment.made', 'book', ({ body }, { tx, afterCommit }) => {
    tx.prepare('insert into bookings values (?)').run(body.amount)
    afterCommit(() => {
      if (++booked === expected) enough.resolve()
    })
  })
  await app.start({ waitFor: 'brokers' })
  for (const amount of more) await app.publish('payment.made', { amount }, { key: `account-${amount % 2}` })
  await enough.promise
  await app.stop()
  return (await store.transaction(async (tx) => tx.prepare('select * from bookings').all())).length
}

await admin.createTopics({ topics: [topic], partitions: 2, replicas: 1 })
await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table bookings (amount integer)'))
const first = await bookUntil(10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])

// The broker loses the positions of the group: as if no commit of the last hour had reached it.
const partitionOffsets = [0, 1].map((partition) => ({ partition, offset: 0n }))
await admin.alterConsumerGroupOffsets({ groupId: group, topics: [{ name: topic, partitionOffsets }] })
const second = await bookUntil(2, [11, 12])

console.log(`naive:    ${naive()}`)
console.log(`justonce: ${first} bookings, then ${second}`)
const rows = await store.transaction(async (tx) => tx.prepare('select * from justonce_positions').all())
console.log(`kept in the database: ${rows.length} positions, one for each partition`)
await admin.deleteTopics({ topics: [topic] })
await admin.close()
await store.close()
