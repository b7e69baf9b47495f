import { justonce, messages } from 'justonce'
import { memoryTransport } from 'justonce/memory'
import { sqliteStore } from 'justonce/sqlite'
import { naive } from './naive.ts'
import { deliveries, type View } from './views.ts'

const store = sqliteStore({ path: ':memory:' })
const broker = memoryTransport()
const app = justonce({ store, transport: broker, messages: messages<{ 'page.viewed': View }>() })
let statements = 0

// Many messages at once, each of them new: copies were removed before. One statement for each page instead of one for each view.
app.onBatch('page.viewed', 'count-views', (views, { tx }) => {
  const count = tx.prepare(`insert into pages values (?, ?)
    on conflict (page) do update set views = views + excluded.views`)
  for (const [page, some] of Map.groupBy(views, ({ body }) => body.page)) {
    count.run(page, some.length)
    statements++
  }
})

await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table pages (page text primary key, views integer)'))
broker.send(deliveries.map(({ id, page }) => ({ id, type: 'page.viewed', body: { page } })))
await app.start()
await broker.idle()

const pages = await store.transaction(async (tx) => tx.prepare('select * from pages order by page').all())
console.log(`naive:    ${naive()}`)
console.log(`justonce: ${pages.map(({ page, views }) => `${page} ${views}`).join(', ')}`)
console.log(
  `${deliveries.length} deliveries, ${statements < deliveries.length / 2 ? 'less than half as many' : statements} statements`,
)
await app.stop()
await store.close()
