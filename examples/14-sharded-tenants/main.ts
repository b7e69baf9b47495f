import { justonce, sharded } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'
import { deliveries, shardOfTenant } from './tenants.ts'

const broker = memoryTransport()
const shards = { eu: sqliteStore({ path: ':memory:' }), us: sqliteStore({ path: ':memory:' }) }

// One source, a database for each region, and an app for each database: its retries, outbox and dead letters are its own.
const orders = sharded({
  from: broker,
  shards,
  shardOf: ({ headers }) => shardOfTenant(headers?.tenant), // from the message alone: every copy gets the same answer
  unknown: 'eu', // has the dead letters of messages that nobody can assign
  app({ shard, store, from }) {
    const app = justonce({ name: `orders-${shard}`, store, from, log: false })
    app.on('order.paid', 'book', (message, { tx }) => {
      tx.prepare('insert into bookings values (?)').run(message.id)
    })
    return app
  },
})

for (const store of Object.values(shards)) {
  await store.schema.install()
  await store.transaction(async (tx) => tx.exec('create table bookings (order_id text)'))
}
await orders.start()
broker.send(deliveries.map(({ id, tenant }) => ({ id, type: 'order.paid', body: {}, headers: { tenant } })))
await broker.idle()

console.log(`naive:    ${naive()}`)
const counts = []
for (const [shard, store] of Object.entries(shards)) {
  const bookings = await store.transaction(async (tx) => tx.prepare('select * from bookings').all())
  counts.push(`${shard} ${bookings.length}`)
}
const letters = await orders.apps.eu.operations.letters.list()
console.log(`justonce: ${counts.join(', ')}; ${letters.length} dead letter of an unknown tenant`)
await orders.stop()
for (const store of Object.values(shards)) await store.close()
