import { justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { insertOnce, type Moved, release, reserve, stateMachine, take } from 'justonce/patterns'
import { type SqliteDatabase, sqliteStore } from 'justonce/sqlite'
import { arrivals, type Line } from './arrivals.ts'
import { naive } from './naive.ts'

type Order = { readonly order: string }
type Types = { 'order.placed': Line; 'order.cancelled': Order; 'parcel.sent': Order; 'order.rejected': Line }

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({ store, transport: broker, messages: messages<Types>() })

// The stock knows how much is held, and an order knows what it holds itself: without that, one gives back what another one holds.
const orders = stateMachine('orders', {
  holds: ['rejected', 'cancelled', 'sent'],
  rejected: [],
  cancelled: [],
  sent: [],
})

app.on('order.placed', 'reserve', async ({ body }, { tx, publish }) => {
  const { order, item, amount } = body
  const placed = await insertOnce(tx, 'orders', { id: order, item, amount, state: 'holds' }, { unique: ['id'] })
  if (placed.kind === 'exists') return
  const outcome = await reserve(tx, 'stock', { item }, { amount })
  if (outcome.kind === 'moved') return
  await orders.move(tx, { id: order }, 'rejected')
  await publish('order.rejected', body) // leaves if, and only if, this commits
})
app.on('order.cancelled', 'release', ({ body }, { tx }) => end(tx, body, 'cancelled', release))
app.on('parcel.sent', 'take', ({ body }, { tx }) => end(tx, body, 'sent', take))

/** An order that was rejected, cancelled or sent holds nothing any more. */
async function end(tx: SqliteDatabase, { order }: Order, to: 'cancelled' | 'sent', how: typeof take): Promise<void> {
  const outcome = await orders.move(tx, { id: order }, to)
  if (outcome.kind !== 'moved') return
  const { item, amount } = tx.prepare('select item, amount from orders where id = ?').get(order) as unknown as Line
  const { kind }: Moved = await how(tx, 'stock', { item }, { amount })
  if (kind !== 'moved') throw new Error(`What ${order} holds is ${kind}.`) // rolled back, and tried again
}

let rejected = 0
app.on('order.rejected', 'tell-customer', (_, { afterCommit }) => {
  afterCommit(() => {
    rejected++
  })
})

await store.schema.install()
await store.transaction(async (tx) => {
  tx.exec('create table stock (item text primary key, free integer, held integer)')
  tx.exec('create table orders (id text primary key, item text, amount integer, state text)')
  await insertOnce(tx, 'stock', { item: 'pen', free: 10, held: 0 }, { unique: ['item'] })
})
await app.start()
for (const { id, type, body } of arrivals) {
  broker.send([
    { id, type, body },
    { id, type, body }, // each is delivered twice
  ])
  await broker.idle()
}
while (rejected === 0) await new Promise((resolve) => setTimeout(resolve, 5))

const [pen] = await store.transaction(async (tx) => tx.prepare('select free, held from stock').all())
console.log(`naive:    ${naive()}`)
console.log(`justonce: ${pen?.free} free, ${pen?.held} held, ${rejected} order rejected`)
await app.stop()
await store.close()
