import { describe, expect, test } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('the epoch of a MySQL store', () => {
  test('is another one in a copy that was made within the same second', async () => {
    const urls = [await createMysqlDatabase(mariadb.url), await createMysqlDatabase(mariadb.url)] as const
    const [original, copy] = urls.map((url) => new URL(url).pathname.slice(1))
    const pools = urls.map((url) => newPool({ url }))
    try {
      const stores = pools.map((pool) => mysqlStore({ pool }))
      for (const store of stores) await store.schema.install()
      const meta = [`${original}.justonce_meta`, `${copy}.justonce_meta`] as const
      const kept = `${original}.kept`
      await askMysql(mariadb.url, `CREATE TABLE ${kept} LIKE ${meta[0]}`)
      await askMysql(mariadb.url, `INSERT INTO ${kept} SELECT * FROM ${meta[0]}`)
      // A second may end between the two.
      do {
        for (const each of meta) await askMysql(mariadb.url, `DROP TABLE ${each}`)
        for (const each of meta) await askMysql(mariadb.url, `CREATE TABLE ${each} LIKE ${kept}`)
      } while ((await timesOfCreation()).size > 1)
      for (const each of meta) await askMysql(mariadb.url, `INSERT INTO ${each} SELECT * FROM ${kept}`)
      const epochs = stores.map((store) =>
        store.transaction(async (tx) => (await store.inbox.claim(tx, [request])).epoch),
      )
      expect(new Set(await Promise.all(epochs)).size).toBe(2)
    } finally {
      for (const pool of pools) await pool.end()
    }

    async function timesOfCreation(): Promise<Set<string>> {
      const rows = await askMysql<{ at: number }>(
        mariadb.url,
        `SELECT UNIX_TIMESTAMP(CREATE_TIME) AS at FROM information_schema.TABLES
         WHERE TABLE_NAME = 'justonce_meta' AND TABLE_SCHEMA IN (?, ?)`,
        [original, copy],
      )
      return new Set(rows.map(({ at }) => String(at)))
    }
  })
})

const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }
