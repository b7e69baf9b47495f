import { effects, justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'
import { type Order, openService } from './services.ts'

const pens = await openService('pens', 5)
const credit = await openService('credit', 4)

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({
  store,
  transport: broker,
  messages: messages<{ 'order.placed': Order }>(),
  effects: effects<{ 'buy-pens': Order }>(),
})

// Try, confirm, cancel: both set something aside; both take it, or both give it back.
app.reservation('buy-pens', { participants: { pens: pens.participant, credit: credit.participant } })

app.on('order.placed', 'buy', async ({ body }, { intend }) => {
  await intend('buy-pens', body, { key: body.order }) // decided in this transaction, done after it
})

let ended = Promise.withResolvers<void>()
app.on('intent.done:buy-pens', 'report', ({ body }, { afterCommit }) => {
  const { outcome, why } = body.result as { outcome: string; why?: string }
  afterCommit(() => {
    console.log(`${body.key}:  ${outcome}${why === undefined ? '' : ` (${why})`}`)
    ended.resolve()
  })
})

console.log(`naive:    ${naive()}`)
await app.start()
for (const [order, count] of [
  ['order 1', 3],
  ['order 2', 2], // there are enough pens for it, and not enough credit
] as const) {
  ended = Promise.withResolvers()
  const message = { id: order, type: 'order.placed', body: { order, count } }
  broker.send([message, message]) // delivered twice
  await ended.promise
}
await app.stop()
console.log(`justonce: ${await pens.left()}, ${await credit.left()}`)
for (const each of [store, pens.store, credit.store]) await each.close()
