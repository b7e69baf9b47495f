import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { seenIn } from '../transfers/tables.ts'
import { accounts } from '../transfers/workload.ts'
import { startTransfers } from './app.ts'
import { type Ground, statements } from './ground.ts'

export async function openSqlite(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-bench-'))
  const path = join(folder, 'bench.db')
  let bare = openBare(path)
  return {
    name: 'sqlite',
    about: `SQLite ${process.versions.sqlite} on node:sqlite, WAL, synchronous = FULL; one writer, so bare ones take turns`,
    bareConcurrency: 1,
    async applyBare(id, { account, amount }) {
      bare.database.exec('BEGIN IMMEDIATE')
      bare.ledger.run(id, account, amount)
      bare.balance.run(amount, account)
      bare.database.exec('COMMIT')
    },
    startApp: (transport) =>
      startTransfers(sqliteStore({ path }), transport, (tx, id, { account, amount }) => {
        tx.prepare(statements.ledger).run(id, account, amount)
        tx.prepare(statements.balance).run(amount, account)
      }),
    // A new file, so that every measurement has the same way to the next checkpoint.
    async empty() {
      bare.database.close()
      for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
      bare = openBare(path)
    },
    look: async () => seenIn(bare.database.prepare(statements.look).get() ?? {}),
    async close() {
      bare.database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Set up as the store sets up its own, and with statements that are prepared once. */
function openBare(path: string) {
  const database = new DatabaseSync(path)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE ledger (transfer text NOT NULL, account integer NOT NULL, amount integer NOT NULL);
    CREATE TABLE balances (account integer PRIMARY KEY, balance integer NOT NULL)`)
  const insert = database.prepare('INSERT INTO balances VALUES (?, 0)')
  database.exec('BEGIN')
  for (let account = 0; account < accounts; account++) insert.run(account)
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  return { database, ledger: database.prepare(statements.ledger), balance: database.prepare(statements.balance) }
}
