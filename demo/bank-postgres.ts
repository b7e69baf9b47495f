import { postgresStore } from '../src/stores/postgres/index.ts'
import type { Bank } from './bank.ts'
import { openPool, type PostgresPlace } from './postgres-schema.ts'

/** Each side has a schema of its own, chosen by the search path, so that nothing else in the database is touched. */
export async function openPostgresBank({ url, schema }: PostgresPlace) {
  const pool = await openPool(url, { options: `-c search_path=${schema}` })
  const store = postgresStore({ pool })
  return {
    store,
    async run(tx, sql, values = []) {
      await tx.query(sql, [...values])
    },
    async read(sql) {
      return (await pool.query(sql)).rows
    },
    async close() {
      await store.close()
      await pool.end()
    },
  } satisfies Bank<Parameters<Parameters<typeof store.transaction>[0]>[0]>
}
