import { randomBytes } from 'node:crypto'
import type { PoolConnection } from 'mysql2/promise'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { openTwoStores } from '../conformance/two-stores.ts'
import { documentedGrants } from '../servers/documented-grants.ts'
import { askMysql, mysqlDatabaseUrl } from '../servers/mysql-databases.ts'
import { mysqlEffects, newDatabase, newPool } from './mysql-context.ts'

/** A user that is given what docs/operations/least-privilege.md says, and nothing else. */
export async function createAppUser(adminUrl: string, database: string) {
  const user = `app_${randomBytes(6).toString('hex')}`
  await askMysql(adminUrl, `CREATE USER ${user} IDENTIFIED BY 'modest'`)
  for (const text of documentedGrants('MySQL', { app: user, shop: database })) await askMysql(adminUrl, text)
  const url = new URL(mysqlDatabaseUrl(adminUrl, database))
  url.username = user
  url.password = 'modest'
  return { url: url.href, remove: () => askMysql(adminUrl, `DROP USER ${user}`) }
}

/** What the cases run in: the owner has installed the tables, and both stores have only the rights of the app's user. */
export async function openAppUserContext(adminUrl: string, prefix: string): Promise<StoreCaseContext<PoolConnection>> {
  const database = newDatabase()
  await askMysql(adminUrl, `CREATE DATABASE ${database}`)
  const admin = newPool({ url: mysqlDatabaseUrl(adminUrl, database) })
  await mysqlStore({ pool: admin, prefix }).schema.install()
  const user = await createAppUser(adminUrl, database)
  const pools = [newPool({ url: user.url }), newPool({ url: user.url })] as const
  const { openEmpty: _, ...context } = await openTwoStores({
    openStore: (client) => mysqlStore({ pool: pools[client], prefix }),
    declares: ['async-calls', 'idle-timeout', 'tables'],
    effects: mysqlEffects({ pool: pools[0], admin }),
    async createEffects() {
      await admin.query('CREATE TABLE effects (name varchar(200) NOT NULL)')
      await admin.query('CREATE TABLE rows_to_lock (name varchar(200) PRIMARY KEY, n int NOT NULL)')
      await admin.query(`INSERT INTO rows_to_lock VALUES ('x', 0), ('y', 0)`)
    },
    async remove() {
      for (const pool of pools) await pool.end()
      await admin.query(`DROP DATABASE ${database}`)
      await admin.end()
      await user.remove()
    },
  })
  return context
}
