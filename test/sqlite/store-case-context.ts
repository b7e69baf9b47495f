import { renameSync, rmSync } from 'node:fs'
import type { Effects, StoreCaseContext } from '../../src/testing/index.ts'
import { openTwoStores } from '../conformance/two-stores.ts'
import { type Library, scratchFolder, type TestDatabase } from './open-sqlite.ts'

const createEffects = `
  CREATE TABLE effects (name text NOT NULL);
  CREATE TABLE ruinous (name text UNIQUE ON CONFLICT ROLLBACK);
  INSERT INTO ruinous (name) VALUES ('taken');
  CREATE TABLE orphans (id integer PRIMARY KEY, parent integer REFERENCES orphans (id) DEFERRABLE INITIALLY DEFERRED);
`
const insertEffect = 'INSERT INTO effects (name) VALUES (?)'
const controls = ['BEGIN', 'COMMIT', 'END', 'ROLLBACK', 'SELECT 1; COMMIT', '/* so */ COMMIT; BEGIN IMMEDIATE']

/** Longer than a busy machine may stand still while somebody waits for a holder; one case waits it out. */
const busyTimeoutMs = 5_000

/** A file of its own for each case. */
export async function openStoreCase(library: Library): Promise<StoreCaseContext<TestDatabase>> {
  const folder = scratchFolder()
  const files = [folder.file('app.db'), folder.file('empty.db')] as const
  let outside = library.open(files[0])
  return await openTwoStores({
    openStore: (_, place) => library.store({ path: files[place], busyTimeoutMs }),
    declares: ['tables'],
    effects: sqliteEffects(
      () => outside,
      () => library.open(files[0]),
    ),
    createEffects: async () => outside.exec(createEffects),
    moveClock: async (ms) => void outside.exec(storedTimesMoved(ms)),
    async backUp() {
      const kept = folder.file('backup.db')
      outside.exec(`VACUUM INTO '${kept}'`)
      return async () => {
        for (const rest of ['-wal', '-shm']) rmSync(`${files[0]}${rest}`, { force: true })
        renameSync(kept, files[0])
        outside.close()
        outside = library.open(files[0])
      }
    },
    async remove() {
      outside.close()
      folder.remove()
    },
  })
}

/** SQLite's clock is that of the machine. */
function storedTimesMoved(ms: number): string {
  return `
    UPDATE justonce_meta SET horizon = horizon - (${ms}), removed_until = removed_until - (${ms}),
      clock_seen = clock_seen - (${ms}), clock_doubted = clock_doubted - (${ms});
    UPDATE justonce_facts SET expires_at = expires_at - (${ms});
    UPDATE justonce_parked SET parked_at = parked_at - (${ms}), changed_at = changed_at - (${ms}), next_at = next_at - (${ms});
    UPDATE justonce_queue SET visible_at = visible_at - (${ms}) WHERE visible_at > 0;`
}

function sqliteEffects(outside: () => TestDatabase, open: () => TestDatabase): Effects<TestDatabase> {
  return {
    async write(tx, name) {
      tx.prepare(insertEffect).run(name)
    },
    async count(name) {
      const row = outside().prepare('SELECT count(*) AS rows FROM effects WHERE name = ?').get(name)
      return (row as { rows: number }).rows
    },
    writeBadly: async (tx) => tx.prepare('INSERT INTO effects (name) VALUES (NULL)').run(),
    writeRuinously: async (tx) => tx.exec(`INSERT INTO ruinous (name) VALUES ('taken')`),
    writeFailingAtCommit: async (tx) => tx.exec('INSERT INTO orphans (id, parent) VALUES (1, 0)'),
    commit: async (tx) => tx.exec('COMMIT'),
    controls: [
      ...controls.map((sql) => ({ name: `exec ${sql}`, run: async (tx: TestDatabase) => tx.exec(sql) })),
      { name: 'prepare COMMIT', run: async (tx) => tx.prepare('COMMIT').run() },
      { name: 'close()', run: async (tx) => tx.close() },
    ],
    async inSavepoint(tx, work) {
      tx.exec('SAVEPOINT mine')
      try {
        await work()
        tx.exec('RELEASE mine')
      } catch (error) {
        tx.exec('ROLLBACK TO mine; RELEASE mine')
        throw error
      }
    },
    savepoints: {
      make: async (tx, name) => tx.prepare(`SAVEPOINT ${name}`).run(),
      undo: async (tx, name) => tx.exec(`ROLLBACK TO ${name}`),
      release: async (tx, name) => tx.prepare(`RELEASE ${name}`).run(),
    },
    prepareWrite(tx) {
      const statement = tx.prepare(insertEffect)
      return async (name) => void statement.run(name)
    },
    async transaction(work) {
      const database = open()
      try {
        database.exec('BEGIN IMMEDIATE')
        const value = await work(database)
        database.exec('COMMIT')
        return value
      } finally {
        // Closing undoes what was not committed.
        database.close()
      }
    },
  }
}
