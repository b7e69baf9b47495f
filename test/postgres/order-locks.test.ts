import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool, newSchema } from './pg-context.ts'

const postgres = await requireServer('postgres')
const scopes = [{ handler: 'tag-note', orderKey: 'k1', pastDead: false }]

describe.skipIf(!postgres.available)('the locks of order keys', () => {
  let url: string
  let pool: pg.Pool
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    pool = newPool({ url })
  })
  afterAll(() => pool.end())

  test('are the same for those who name the schema and those who find it on their search_path', async () => {
    const schema = newSchema()
    const named = postgresStore({ pool, schema, listen: false })
    await named.schema.install()
    const otherPool = newPool({ url, pool: { options: `-c search_path=${schema}` } })
    const unnamed = postgresStore({ pool: otherPool, listen: false })
    await named.transaction(async (tx) => {
      await named.parking.blocked(tx, scopes)
      const rival = unnamed.transaction((theirs) => unnamed.parking.blocked(theirs, scopes), { lockTimeoutMs: 50 })
      await expect(rival).rejects.toMatchObject({ code: '55P03' })
    })
    expect(await unnamed.transaction((tx) => unnamed.parking.blocked(tx, scopes))).toEqual([false])
    await otherPool.end()
  })

  test('of other tables in the same database are others', async () => {
    const stores = [newSchema(), newSchema()].map((schema) => postgresStore({ pool, schema, listen: false }))
    for (const store of stores) await store.schema.install()
    const [store, other] = stores as [(typeof stores)[0], (typeof stores)[0]]
    await store.transaction(async (tx) => {
      await store.parking.blocked(tx, scopes)
      const answer = other.transaction((theirs) => other.parking.blocked(theirs, scopes), { lockTimeoutMs: 50 })
      expect(await answer).toEqual([false])
    })
  })
})

describe.skipIf(!postgres.available)('statementTimeoutMs', () => {
  test('ends a statement that takes longer, as a conflict, and without it the setting of the role holds', async () => {
    const pool = newPool({ url: await createDatabase(postgres.url), pool: { options: '-c statement_timeout=12345' } })
    const store = postgresStore({ pool, listen: false })
    await store.schema.install()
    const sleeping = store.transaction((tx) => tx.query('SELECT pg_sleep(60)'), { statementTimeoutMs: 50 })
    const error: unknown = await sleeping.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: '57014' })
    expect(store.classify(error)).toBe('conflict')
    const setting = (options: { statementTimeoutMs?: number }) =>
      store.transaction(async (tx) => (await tx.query('SHOW statement_timeout')).rows, options)
    expect(await setting({ statementTimeoutMs: 7_777 })).toEqual([{ statement_timeout: '7777ms' }])
    expect(await setting({})).toEqual([{ statement_timeout: '12345ms' }])
    await pool.end()
  })
})
