import { justonce, messages, PermanentError } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { insertOnce, stateMachine } from 'justonce/patterns'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'

type Order = { readonly order: string }
type Types = { 'order.paid': Order; 'order.shipped': Order; 'order.cancelled': Order }

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({ store, transport: broker, messages: messages<Types>(), log: false })

// The allowed moves, named once. The compiler refuses others, and so does the database.
const orders = stateMachine('orders', { new: ['paid', 'cancelled'], paid: ['shipped'], shipped: [], cancelled: [] })

for (const to of ['paid', 'shipped', 'cancelled'] as const) {
  app.on(`order.${to}`, `order-${to}`, async ({ body }, { tx, afterCommit }) => {
    const outcome = await orders.move(tx, { id: body.order }, to)
    if (outcome.kind === 'refused') throw new PermanentError(`${outcome.current} orders cannot become ${to}.`)
    afterCommit(() => console.log(`justonce: ${to} → ${outcome.kind}`))
  })
}

await store.schema.install()
await store.transaction(async (tx) => {
  tx.exec('create table orders (id text primary key, state text)')
  await insertOnce(tx, 'orders', { id: 'A17', state: 'new' }, { unique: ['id'] })
})

console.log(`naive:    the order is ${naive()}`)
await app.start()
for (const [id, type] of [
  ['m1', 'order.paid'],
  ['m1', 'order.paid'], // a copy: skipped before the handler
  ['m2', 'order.paid'], // another message that says the same: answered by the state
  ['m3', 'order.shipped'],
  ['m4', 'order.cancelled'], // came too late
] as const) {
  broker.send({ id, type, body: { order: 'A17' }, key: 'A17' })
  await broker.idle()
}

const [order] = await store.transaction(async (tx) => tx.prepare('select state from orders').all())
console.log(`justonce: the order is ${order?.state}`)
for (const { key, errors } of await app.operations.letters.list()) {
  const [reason] = errors.at(-1)?.message.split('\n') ?? []
  console.log(`refused:  ${key}, ${reason}`)
}
await app.stop()
await store.close()
