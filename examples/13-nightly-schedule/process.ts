import { justonce, messages } from 'justonce'
import { queueTransport } from 'justonce/queue'
import { sqliteStore } from 'justonce/sqlite'

const store = sqliteStore({ path: process.argv[2] as string })
const app = justonce({
  store,
  transport: queueTransport({ store, queue: 'reports' }),
  messages: messages<{ 'report.due': { readonly kind: string } }>(),
})

// In production: cron: '0 3 * * *', timeZone: 'Europe/Berlin'
app.schedule('nightly-report', { everyMs: 1_000, type: 'report.due', body: { kind: 'nightly' } })
app.on('report.due', 'write-report', (message, { tx }) => {
  const tick = Math.floor((message.sentAt?.getTime() ?? 0) / 1_000)
  tx.prepare("insert into reports values ('justonce', ?)").run(tick)
})
await app.start()

// The naive way: a timer in every process.
function writeAt(night: number): void {
  setTimeout(
    () => {
      void store.transaction(async (tx) => tx.prepare("insert into reports values ('naive', ?)").run(night))
      writeAt(night + 1)
    },
    night * 1_000 - Date.now(),
  )
}
writeAt(Math.ceil(Date.now() / 1_000))
