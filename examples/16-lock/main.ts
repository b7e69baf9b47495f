import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withLease } from 'justonce'
import { naive } from './naive.ts'
import { openStore, writeReport } from './report.ts'

const folder = mkdtempSync(join(tmpdir(), 'justonce-lock-'))
const path = join(folder, 'reports.db')
const store = openStore(path)
await store.schema.install()
await store.transaction(async (tx) => {
  tx.exec('create table reports (id integer primary key, fence integer, text text)')
  tx.exec(`insert into reports values (1, 0, 'of nobody')`)
})

const other = fork(new URL('worker.ts', import.meta.url), [path])
await once(other, 'message') // it has the lease …
other.kill('SIGSTOP') // … and stands still, as in a long pause of its machine

// Nobody renews the lease, so it ends, and this process gets it. Its fence is greater.
const mine = await withLease(store, 'nightly-report', { leaseMs: 300, waitMs: 30_000 }, (_, fence) =>
  writeReport(store, fence, 'of the process that took over'),
)

other.kill('SIGCONT') // it wakes up, and takes the lease for its own
other.send('go on')
const [late] = await once(other, 'message')
await once(other, 'exit')

const [report] = await store.transaction(async (tx) => tx.prepare('select text from reports').all())
console.log(`naive:    the report is that ${naive()}`)
console.log(`justonce: the report is that ${report?.text}`)
console.log(`          the first write was ${mine.status === 'done' ? mine.value : mine.status}, the late one ${late}`)
await store.close()
rmSync(folder, { recursive: true })
