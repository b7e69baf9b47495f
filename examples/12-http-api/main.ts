import { once as event } from 'node:events'
import { createServer } from 'node:http'
import { isJustonceError, once } from 'justonce'
import { sqliteStore } from 'justonce/sqlite'
import { callThreeTimes, callWithNonsense, callWithOtherContent } from './client.ts'
import { naive } from './naive.ts'

const store = sqliteStore({ path: ':memory:' })

// POST /payments, made idempotent: the client names its request, and may repeat it until it has an answer.
const server = createServer(async (request, response) => {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string') return response.writeHead(400).end('Idempotency-Key is missing')
  try {
    const body = JSON.parse(String(Buffer.concat(await request.toArray()))) as { amount: number }
    const outcome = await once(store, { handler: 'POST /payments', key, content: body }, (tx) => {
      const { lastInsertRowid } = tx.prepare('insert into payments (amount) values (?)').run(body.amount)
      return { payment: Number(lastInsertRowid), amount: body.amount } // kept with the record: the same answer every time
    })
    if (outcome.status === 'busy' || outcome.status === 'parked') return response.writeHead(409).end()
    response.writeHead(outcome.status === 'processed' ? 201 : 200).end(JSON.stringify(outcome.value))
  } catch (error) {
    if (error instanceof SyntaxError) return response.writeHead(400).end('The body is no JSON')
    response.writeHead(isJustonceError(error, 'KEY_REUSED') ? 422 : 500).end()
  }
}).listen(0)
await event(server, 'listening')
await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table payments (id integer primary key, amount integer)'))

const answers = await callThreeTimes(server)
const payments = await store.transaction(async (tx) => tx.prepare('select * from payments').all())
console.log(`naive:    ${await naive()}`)
console.log(`justonce: ${payments.length} payment`)
for (const answer of answers) console.log(`          ${answer}`)
console.log(`the same key for something else: ${await callWithOtherContent(server)}`)
console.log(`no JSON: ${await callWithNonsense(server)}`)
server.close()
await store.close()
