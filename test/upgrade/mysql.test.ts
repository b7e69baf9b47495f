import type { PoolConnection, RowDataPacket } from 'mysql2/promise'
import { describe, onTestFinished } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { newPool } from '../mysql/mysql-context.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { fillStore } from './fill-store.ts'
import { nextMysql } from './next-version.ts'
import { upgradeAtOnce } from './upgrade-at-once.ts'
import { type Filled, upgradeCases } from './upgrade-cases.ts'

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('an upgrade of the tables in MySQL', () => {
  async function openFilled(): Promise<Filled<PoolConnection>> {
    const url = await createMysqlDatabase(mariadb.url)
    const pool = newPool({ url })
    onTestFinished(() => pool.end())
    const store = mysqlStore({ pool })
    await store.schema.install()
    await fillStore(store)
    const scope = { handler: 'tag-note', orderKey: 'k1', pastDead: false }
    await store.transaction((tx) => store.parking.blocked(tx, [scope]))
    return {
      store,
      async rows() {
        const [tables] = await pool.query<RowDataPacket[]>('SHOW TABLES')
        const found: Record<string, Record<string, unknown>[]> = {}
        for (const name of tables.flatMap((row) => Object.values(row) as string[])) {
          const [rows] = await pool.query<RowDataPacket[]>(`SELECT * FROM ${name}`)
          found[name] = rows.map((row) => ({ ...row }))
        }
        return found
      },
      withoutVersion: ({ justonce_meta = [], ...tables }) => ({
        ...tables,
        justonce_meta: justonce_meta.map((row) => ({ ...row, version: 0 })),
      }),
      next: (broken) => nextMysql(pool, broken && 'INSERT INTO nowhere VALUES (1)'),
      upgradeTwice: () => upgradeAtOnce('upgrade-mysql', [url]),
    }
  }

  upgradeCases(openFilled, 'in part')
})
