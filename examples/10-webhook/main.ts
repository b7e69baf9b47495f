import { once } from 'node:events'
import { createServer } from 'node:http'
import { justonce } from 'justonce'
import { sqliteStore } from 'justonce/sqlite'
import { standardWebhooks, webhookTransport } from 'justonce/webhooks'
import { naive } from './naive.ts'
import { sendThreeTimes } from './sender.ts'

const secret = `whsec_${Buffer.from('a secret of at least 16 bytes').toString('base64')}`
const webhooks = webhookTransport({ path: '/hooks', verify: standardWebhooks({ secret }) })
const store = sqliteStore({ path: ':memory:' })
const app = justonce({ store, from: webhooks })

app.on('charge.succeeded', 'book-charge', (message, { tx }) => {
  tx.prepare('insert into bookings values (?)').run(message.id)
})

await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table bookings (event text)'))
await app.start()
const server = createServer(webhooks.nodeHandler).listen(0)
await once(server, 'listening')

// 200 is the acknowledgement: it is sent when the booking is committed, and not before.
const answers = await sendThreeTimes(server, '/hooks', secret)
const bookings = await store.transaction(async (tx) => tx.prepare('select * from bookings').all())
console.log(`naive:    ${await naive(secret)}`)
console.log(`justonce: ${bookings.length} booking, answers ${answers.join(', ')}`)
server.close()
await app.stop()
await store.close()
