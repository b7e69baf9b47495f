import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'justonce/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'nightly-'))
const path = join(folder, 'app.db')
const store = sqliteStore({ path })
await store.schema.install()
await store.transaction(async (tx) => tx.exec('create table reports (how text, tick integer)'))

// Three processes of one service. Every second is a night here.
const processes = [1, 2, 3].map(() => fork(new URL('process.ts', import.meta.url), [path]))

const nights = (how: string) =>
  store.transaction(async (tx) => {
    const sql = 'select count(*) as reports from reports where how = ? group by tick order by tick'
    return tx
      .prepare(sql)
      .all(how)
      .map(({ reports }) => Number(reports))
  })
while ((await nights('naive')).filter((reports) => reports === 3).length < 2 || (await nights('justonce')).length < 3)
  await new Promise((resolve) => setTimeout(resolve, 100))
for (const each of processes) each.kill('SIGKILL') // as hard as it can be
await Promise.all(processes.map((each) => once(each, 'exit')))

console.log(`naive:    ${Math.max(...(await nights('naive')))} reports in a night`)
console.log(`justonce: ${Math.max(...(await nights('justonce')))} report in a night`)
await store.close()
rmSync(folder, { recursive: true })
