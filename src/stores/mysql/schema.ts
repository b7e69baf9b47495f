import { hash } from 'node:crypto'
import type { Schema } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { checkNotNewer, checkVersion } from '../sql/schema-version.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import type { Connections } from './connections.ts'
import { endings } from './endings.ts'
import { numberIn } from './literals-and-cells.ts'
import { createMeta, type Migrations, migrations, setVersion } from './migrations/index.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { atHome, type Tables } from './tables.ts'

/** Another process needs a few seconds at most to install the tables. */
const patienceSeconds = 60

export function mysqlSchema<Native extends MysqlConnectionShape>(
  connections: Connections<Native>,
  short: ShortTransactions<Native>,
  tables: Tables,
  steps: Migrations = migrations,
): Schema {
  const wanted = steps.length
  const pending = (from: number): string[] =>
    steps.slice(from).flatMap((step, index) => [...step(tables), setVersion(tables, from + index + 1)])
  const isThere = `SELECT COUNT(*) FROM information_schema.tables
    WHERE table_schema = ${tables.databaseValue} AND table_name = '${tables.metaName}'`
  const readVersion = `SELECT COALESCE(MAX(version), 0) FROM ${tables.meta}`
  const lock = `CONCAT('justonce ', LEFT(SHA1(CONCAT(COALESCE(${tables.databaseValue}, ''), '${hash('sha1', tables.prefix)}')), 40))`

  /** 0 if there are no tables yet. */
  async function version(run: (sql: string) => ReturnType<typeof short.read>): Promise<number> {
    if (numberIn((await run(isThere))[0]?.[0]) === 0) return 0
    return numberIn((await run(readVersion))[0]?.[0])
  }

  /** Each statement here commits separately, so each is safe to run again after an interruption. */
  async function installOn(runner: Runner): Promise<void> {
    const run = async (sql: string) => (await runner.run(sql)).rows
    const found = await version(run)
    checkNotNewer(found, wanted)
    for (const sql of [...createMeta(tables), ...pending(found)]) await runner.run(sql)
  }

  async function underLock(connection: MysqlConnection<Native>): Promise<void> {
    // The first CREATE TABLE would commit a transaction that someone has left open here.
    await connection.run(endings.rollback)
    const { rows } = await connection.run(`SELECT COALESCE(GET_LOCK(${lock}, ${patienceSeconds}), 0)`)
    if (numberIn(rows[0]?.[0]) !== 1)
      throw new JustonceError('STORE_BUSY', { message: 'Another process has been installing the tables for a minute.' })
    await connection.run('SET @justonce_autocommit_before = @@SESSION.autocommit, @@SESSION.autocommit = 1')
    await installOn(connection)
    await connection.run('SET @@SESSION.autocommit = @justonce_autocommit_before')
    await connection.run(`SELECT RELEASE_LOCK(${lock})`)
  }

  return {
    async install() {
      // The usual case needs no lock and no privilege to create anything.
      if ((await version((sql) => short.read(sql))) === wanted) return
      const connection = await connections.checkOut({ isPatient: true })
      try {
        await underLock(connection)
        void connection.giveBack()
      } catch (error) {
        connection.discard()
        throw error
      }
    },
    async check() {
      checkVersion(await version((sql) => short.read(sql)), wanted, `table ${tables.meta}`)
    },
    print() {
      const statements = [...createMeta(tables), ...pending(0)].map((sql) => `${atHome(sql, undefined)};`)
      return `${statements.join('\n\n')}\n`
    },
  }
}
