import { justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'
import { type Note, note, tagsOf } from './notes.ts'

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport() // in production rabbitmqTransport(…), kafkaTransport(…), queueTransport(…)
const app = justonce({ store, transport: broker, messages: messages<{ 'note.created': Note }>() })
const cache = new Map<number, readonly string[]>()
let refreshed = 0

app.on('note.created', 'tag-note', ({ body }, { tx, afterCommit }) => {
  const insert = tx.prepare('insert into tags values (?, ?)')
  for (const tag of tagsOf(body)) insert.run(body.id, tag)

  // The cache is no part of the transaction, so it waits for the commit. A copy of the message never gets here.
  afterCommit(() => {
    cache.set(body.id, tagsOf(body))
    refreshed++
  })
})

await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table tags (note integer, tag text)'))
await app.start()
broker.send({ id: 'note-1', type: 'note.created', body: note })
broker.send({ id: 'note-1', type: 'note.created', body: note }) // the publisher saw a timeout and sent it again
await broker.idle()

const rows = await store.transaction(async (tx) => tx.prepare('select tag from tags').all())
console.log(`naive:    ${await naive()}`)
console.log(
  `justonce: ${rows.length} tags (${rows.map(({ tag }) => tag).join(', ')}), cache refreshed ${refreshed} time`,
)
await app.stop()
await store.close()
