import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hot, openProcess } from './bookings.ts'
import { naive } from './naive.ts'

const folder = mkdtempSync(join(tmpdir(), 'justonce-hot-'))
const processes = [openProcess(join(folder, 'shop.db')), openProcess(join(folder, 'shop.db'))]
const { store } = processes[0] as (typeof processes)[number]
await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table bookings (payment text, cents integer)'))

const payments = [1, 2, 3, 4, 5].map((n) => ({ id: `p-${n}`, type: 'payment.made', body: { cents: 100 } }))
const bookings = () =>
  store.transaction(async (tx) => tx.prepare('select payment from bookings order by payment').all())
for (const { app } of processes) await app.start()

for (const { broker } of processes) {
  broker.send(payments) // each process gets all of them
  await broker.idle()
}
while ((await bookings()).length < payments.length) await new Promise((resolve) => setTimeout(resolve, 5))

hot.forgetAll() // evicted, expired, restarted without its data
for (const { broker } of processes) {
  broker.send(payments)
  await broker.idle()
}

const booked = (await bookings()).map(({ payment }) => payment)
console.log(`naive:    ${naive(payments.map(({ id }) => id)).join(', ')}`)
console.log(`justonce: ${booked.join(', ')}`)
for (const { app, store: each } of processes) {
  await app.stop()
  await each.close()
}
rmSync(folder, { recursive: true })
