import { justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'

type Types = { 'order.paid': { readonly order: string }; 'parcel.packed': { readonly order: string } }

// Two services, each with a database of its own, and a queue of the broker in front of each.
const orders = memoryTransport()
const parcels = memoryTransport()
const warehouse = sqliteStore({ path: ':memory:' })
const accounting = sqliteStore({ path: ':memory:' })
const shop = justonce({ store: warehouse, from: orders, to: parcels, messages: messages<Types>() })
const billing = justonce({ store: accounting, from: parcels, messages: messages<Types>() })

shop.on('order.paid', 'pack', async ({ body }, { tx, publish }) => {
  tx.prepare('insert into parcels values (?)').run(body.order)
  await publish('parcel.packed', body) // a row of this transaction; it leaves after the commit
})
billing.on('parcel.packed', 'invoice', ({ body }, { tx }) => {
  tx.prepare('insert into invoices values (?)').run(body.order)
})

for (const [store, table] of [
  [warehouse, 'parcels'],
  [accounting, 'invoices'],
] as const) {
  await store.schema.install()
  await store.transaction(async (tx) => tx.exec(`create table ${table} (order_id text)`))
}
await Promise.all([shop.start(), billing.start()])
const paid = Array.from({ length: 20 }, (_, index) => ({
  id: `order-${index}`,
  type: 'order.paid',
  body: { order: `A${index}` },
}))
orders.send([...paid, ...paid]) // everything twice
await orders.idle()
while (parcels.settled().length < paid.length) await new Promise((resolve) => setTimeout(resolve, 5))
for (const { id } of parcels.settled().slice(0, 5)) parcels.duplicate(id as string) // and in the middle, too
await parcels.idle()

const rowsIn = (store: typeof warehouse, table: string) =>
  store.transaction(async (tx) => tx.prepare(`select * from ${table}`).all().length)
console.log(`naive:    ${naive()}`)
console.log(`justonce: ${await rowsIn(warehouse, 'parcels')} parcels, ${await rowsIn(accounting, 'invoices')} invoices`)
await Promise.all([shop.stop(), billing.stop()])
await Promise.all([warehouse.close(), accounting.close()])
