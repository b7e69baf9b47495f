import { justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { insertOnce, release, reserve, take } from 'justonce/patterns'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'

type Line = { readonly item: string; readonly amount: number }
type Types = { 'order.placed': Line; 'order.cancelled': Line; 'parcel.sent': Line; 'order.rejected': Line }

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({ store, transport: broker, messages: messages<Types>() })
const where = ({ item }: Line) => ({ item })

app.on('order.placed', 'reserve', async ({ body }, { tx, publish }) => {
  const outcome = await reserve(tx, 'stock', where(body), { amount: body.amount })
  if (outcome.kind === 'short') await publish('order.rejected', body) // leaves if, and only if, this commits
})
app.on('order.cancelled', 'release', async ({ body }, { tx }) => {
  await release(tx, 'stock', where(body), { amount: body.amount })
})
app.on('parcel.sent', 'take', async ({ body }, { tx }) => {
  await take(tx, 'stock', where(body), { amount: body.amount })
})
let rejected = 0
app.on('order.rejected', 'tell-customer', (_, { afterCommit }) => {
  afterCommit(() => {
    rejected++
  })
})

await store.schema.install()
await store.transaction(async (tx) => {
  tx.exec('create table stock (item text primary key, free integer, held integer)')
  await insertOnce(tx, 'stock', { item: 'pen', free: 10, held: 0 }, { unique: ['item'] })
})
await app.start()
for (const [id, type, amount] of [
  ['o1', 'order.placed', 4],
  ['o2', 'order.placed', 4],
  ['o3', 'order.placed', 4], // only 2 are left
  ['o2-c', 'order.cancelled', 4],
  ['o1-p', 'parcel.sent', 4],
] as const) {
  const message = { id, type, body: { item: 'pen', amount } }
  broker.send([message, message]) // each is delivered twice
  await broker.idle()
}
while (rejected === 0) await new Promise((resolve) => setTimeout(resolve, 5))

const [pen] = await store.transaction(async (tx) => tx.prepare('select free, held from stock').all())
console.log(`naive:    ${naive()}`)
console.log(`justonce: ${pen?.free} free, ${pen?.held} held, ${rejected} order rejected`)
await app.stop()
await store.close()
