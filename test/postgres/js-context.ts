import type pg from 'pg'
import postgres, { type ReservedSql, type Sql } from 'postgres'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Effects, StoreCaseContext } from '../../src/testing/index.ts'
import { openTwoStores } from '../conformance/two-stores.ts'
import { postgresEffects, twoSchemas } from './pg-context.ts'

export interface JsContextOptions {
  readonly url: string
  readonly client?: postgres.Options<Record<string, never>>
  readonly prepare?: boolean
  readonly listen?: boolean
}

/** Two stores on two clients of postgres.js, and effects in a table beside theirs. */
export async function openJsContext({ url, client, ...how }: JsContextOptions): Promise<StoreCaseContext<ReservedSql>> {
  const clients = [newSql({ url, client }), newSql({ url, client })] as const
  const { schemas, admin, ...places } = twoSchemas(url)
  return await openTwoStores({
    ...places,
    openStore: (which, place) => postgresStore({ sql: clients[which], schema: schemas[place], ...how }),
    effects: jsEffects(schemas[0], { sql: clients[0], admin }),
    async remove() {
      // Without a timeout postgres.js waits for ever after a connection was lost in the middle of a query.
      for (const sql of clients) await sql.end({ timeout: 1 })
      await places.remove()
    },
  })
}

export function newSql({ url, client }: JsContextOptions): Sql {
  return postgres(url, { max: 8, onnotice: () => {}, ...client }) as unknown as Sql
}

export function jsEffects(schema: string, { sql, admin }: { sql: Sql; admin: pg.Pool }): Effects<ReservedSql> {
  const plain = postgresEffects<ReservedSql>(schema, admin, {
    run: async (tx, text) => await tx.unsafe(text),
    // Not sql.begin: that one undoes everything after any failed query, also after one in a savepoint.
    checkOut: () => sql.reserve(),
    release: (tx) => tx.release(),
  })
  return {
    ...plain,
    write: async (tx, name) => void (await tx`INSERT INTO ${tx(schema)}.effects ${tx({ name })}`.execute()),
    writeBadly: async (tx, value = '') => await tx`SELECT 1 / 0, ${value}::text`.execute(),
    commit: async (tx) => await tx`COMMIT`,
    controls: [
      ...plain.controls,
      { name: 'commit from a template', run: async (tx) => await tx`COMMIT` },
      { name: 'commit from a fragment', run: async (tx) => await tx`${tx`commit`}` },
    ],
    prepareWrite: (tx) => async (name) => void (await tx`INSERT INTO ${tx(schema)}.effects VALUES (${name})`),
    async cut(tx) {
      const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
      await admin.query('SELECT pg_terminate_backend($1, 10000)', [row?.pid])
    },
  }
}
