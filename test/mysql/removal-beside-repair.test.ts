import type { Pool, PoolConnection } from 'mysql2/promise'
import { beforeAll, describe, expect, test } from 'vitest'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const aDay = 86_400_000

/** A clock that was ahead has raised the horizon, so records are being removed that must stay. An operator repairs it just then. */
describe.skipIf(!mariadb.available)('a removal that a repair of the horizon comes between', () => {
  let pool: Pool
  let operator: MysqlStore<PoolConnection>

  beforeAll(async () => {
    pool = newPool({ url: await createMysqlDatabase(mariadb.url) })
    operator = mysqlStore({ pool })
    await operator.schema.install()
    return () => pool.end()
  })

  /** A store that lets `meanwhile` happen when it has found what to remove and has not removed it. */
  function remover(meanwhile: () => Promise<unknown>): MysqlStore<PoolConnection> {
    const held = (connection: PoolConnection): PoolConnection => {
      const query = connection.query.bind(connection) as (...values: unknown[]) => Promise<unknown>
      const afterIt = async (...values: unknown[]) => {
        const answer = await query(...values)
        if (/^SELECT handler, .* FOR UPDATE SKIP LOCKED$/s.test((values[0] as { sql?: string }).sql ?? ''))
          await meanwhile()
        return answer
      }
      return Object.assign(connection, { query: afterIt })
    }
    return mysqlStore({ pool: { getConnection: async () => held(await pool.getConnection()) } })
  }

  test('removes nothing that the horizon no longer refuses', async () => {
    const { now } = await operator.retention.raise(100 * aDay)
    const old = {
      handler: 'tag-note',
      key: 'old',
      fingerprint: undefined,
      born: new Date(now.getTime() - 20 * aDay),
    }
    await operator.transaction((tx) => operator.inbox.claim(tx, [old]))
    await operator.retention.raise(10 * aDay)

    let repairs = 0
    const store = remover(async () => {
      repairs++
      expect((await operator.retention.repairHorizon()).horizon).toBeUndefined()
    })
    const bornBefore = new Date(now.getTime() - 11 * aDay)
    const { removed } = await store.retention.remove({ bornBefore, timelessBefore: undefined, budgetMs: 60_000 })

    expect(repairs).toBe(1)
    expect(removed).toBe(0)
    expect(await recordOf(operator, old)).toMatchObject({ state: 'processed' })
    const { existing } = await operator.transaction((tx) => operator.inbox.claim(tx, [old]))
    expect(existing).toHaveLength(1)
    expect(existing[0]).toMatchObject({ state: 'processed' })
  })
})
