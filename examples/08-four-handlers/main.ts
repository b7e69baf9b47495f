import { fixed, justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({
  store,
  transport: broker,
  messages: messages<{ 'order.paid': { readonly order: string } }>(),
  pollMs: 10,
  log: false,
})
let isStockServiceDown = true

// Four handlers of one message, in this order. Each has a record of its own.
for (const name of ['Ha', 'Hb', 'Hc', 'Hd']) {
  app.on('order.paid', { name, retry: { attempts: 5, backoff: fixed(5) } }, (message, { tx }) => {
    if (name === 'Hc' && isStockServiceDown) throw new Error('The stock service is down.')
    tx.prepare('insert into settlements values (?, ?)').run(name, message.body.order)
  })
}

const settled = () =>
  store.transaction(async (tx) => {
    const rows = tx
      .prepare('select handler, count(*) as times from settlements group by handler order by handler')
      .all()
    return rows.map(({ handler, times }) => `${handler} ${times}×`).join(', ')
  })
/** What to wait for instead of a guess: a handler has been given up, or has succeeded. */
const until = (kind: 'parked' | 'processed', handler: string) =>
  new Promise<void>((resolve) => {
    const stop = app.events.listen((event) => {
      if (event.kind !== kind || event.handler !== handler || (event.kind === 'parked' && event.state !== 'dead'))
        return
      stop()
      resolve()
    })
  })

await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table settlements (handler text, order_id text)'))
await app.start()
console.log(`naive:    ${naive()}`)

const givenUp = until('parked', 'Hc')
broker.send({ id: 'paid-1', type: 'order.paid', body: { order: 'A17' } })
await givenUp
const [letter] = await app.operations.letters.list()
console.log(`justonce: ${await settled()}; ${letter?.handler} is a dead letter after ${letter?.attempts} attempts`)

isStockServiceDown = false
const done = until('processed', 'Hd')
await app.operations.letters.redrive('all', { by: 'ada', why: 'the stock service is back' })
await done
console.log(`requeued: ${await settled()}`)
await app.stop()
await store.close()
