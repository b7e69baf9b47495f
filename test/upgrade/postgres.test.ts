import type pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { newPool, newSchema } from '../postgres/pg-context.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { fillStore } from './fill-store.ts'
import { nextPostgres } from './next-version.ts'
import { upgradeAtOnce } from './upgrade-at-once.ts'
import { type Filled, upgradeCases } from './upgrade-cases.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('an upgrade of the tables in Postgres', () => {
  let url: string
  let pool: pg.Pool
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    pool = newPool({ url })
  })
  afterAll(() => pool.end())

  async function openFilled(): Promise<Filled<pg.PoolClient>> {
    const schema = newSchema()
    const store = postgresStore({ pool, schema, listen: false })
    await store.schema.install()
    await fillStore(store)
    return {
      store,
      async rows() {
        const { rows: tables } = await pool.query<{ name: string }>(
          `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
          [schema],
        )
        const found: Record<string, Record<string, unknown>[]> = {}
        for (const { name } of tables)
          found[name] = (await pool.query(`SELECT * FROM ${schema}.${name} AS t ORDER BY t::text`)).rows
        return found
      },
      withoutVersion: ({ justonce_meta = [], ...tables }) => ({
        ...tables,
        justonce_meta: justonce_meta.map((row) => ({ ...row, version: 0 })),
      }),
      next: (broken) => nextPostgres(pool, schema, broken && 'INSERT INTO nowhere VALUES (1);'),
      upgradeTwice: () => upgradeAtOnce('upgrade-postgres', [url, schema]),
    }
  }

  upgradeCases(openFilled, 'whole')
})
