import { justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { upsertLatest } from 'justonce/patterns'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'
import { arrivals, type Profile } from './profiles.ts'

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport({ order: 'none' })
const app = justonce({ store, transport: broker, messages: messages<{ 'profile.changed': Profile }>() })

app.on('profile.changed', 'save-profile', async ({ body }, { tx }) => {
  // Older and equally new ones change nothing: the result does not depend on the order of arrival.
  await upsertLatest(tx, 'profiles', { ...body }, { unique: ['user_id'], by: 'changed_at' })
})

await store.schema.install()
await store.transaction(async (tx) =>
  tx.exec('create table profiles (user_id integer primary key, name text, email text, changed_at integer)'),
)
await app.start()
for (const [index, body] of arrivals.entries()) {
  broker.send({ id: `change-${index}`, type: 'profile.changed', body })
  await broker.idle()
}

const [profile] = await store.transaction(async (tx) => tx.prepare('select name, email from profiles').all())
console.log(`naive:    ${naive()}`)
console.log(`justonce: ${profile?.name} <${profile?.email}>`)
await app.stop()
await store.close()
