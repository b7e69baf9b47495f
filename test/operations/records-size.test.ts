import mysql from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { operations, type Store } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { connected, freshTag, isolatedStore } from '../redis/open-redis.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')
const redis = await requireServer('redis')
const mariadb = await requireServer('mariadb')

async function claim<Tx>(store: Store<Tx>, count: number): Promise<void> {
  const keys = Array.from({ length: count }, (_, n) => ({ handler: 'tag-note', key: `m${n}`, fingerprint: undefined }))
  await store.transaction((tx) => store.inbox.claim(tx, keys))
}

test('the overview says how many records there are: memory', async () => {
  const store = memoryStore()
  await claim(store, 7)
  expect((await operations(store).overview({ minutes: 0 })).records).toEqual({ rows: 7, bytes: undefined })
})

test('of a SQLite file the overview says what all of it takes, without counting anything', async () => {
  const store = sqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  await store.schema.install()
  const sizeOf = async () => (await operations(store).overview({ minutes: 0 })).records
  const before = await sizeOf()
  expect(before).toEqual({ rows: undefined, bytes: expect.any(Number), of: 'database' })
  await claim(store, 5_000)
  const after = await sizeOf()
  expect(after?.bytes).toBeGreaterThan((before?.bytes ?? 0) + 5_000 * 10)
})

describe.skipIf(!redis.available)('Redis', () => {
  test('the overview says how many keys there are and what they take', async () => {
    const client = await connected(redis.url)
    onTestFinished(() => client.destroy())
    const store = isolatedStore(client, freshTag())
    await store.schema.install()
    await claim(store, 50)
    const records = (await operations(store).overview({ minutes: 0 })).records
    expect(records?.of).toBe('database')
    expect(records?.rows).toBeGreaterThanOrEqual(50)
    expect(records?.bytes).toBeGreaterThan(50 * 10)
  })
})

describe.skipIf(!postgres.available)('Postgres', () => {
  test('the overview says about how many records there are and what room they take', async () => {
    const pool = new pg.Pool({ connectionString: await createDatabase(postgres.url), max: 2 })
    onTestFinished(() => pool.end())
    const store = postgresStore({ pool })
    await store.schema.install()
    const sizeOf = async () => (await operations(store).overview({ minutes: 0 })).records
    const before = await sizeOf()
    await claim(store, 2_000)
    // Nobody has analysed the table yet.
    const early = await sizeOf()
    expect(early?.rows).toBeGreaterThan(500)
    await pool.query('ANALYZE justonce_inbox')
    const after = await sizeOf()
    expect(after?.rows).toBe(2_000)
    expect(after?.bytes).toBeGreaterThan(before?.bytes ?? 0)
  })
})

describe.skipIf(!mariadb.available)('MariaDB', () => {
  test('the overview says about how many records there are and what room they take', async () => {
    const pool = mysql.createPool({ uri: await createMysqlDatabase(mariadb.url), connectionLimit: 2 })
    onTestFinished(() => pool.end())
    const store = mysqlStore({ pool })
    await store.schema.install()
    await claim(store, 2_000)
    await pool.query('ANALYZE TABLE justonce_inbox')
    const records = (await operations(store).overview({ minutes: 0 })).records
    expect(records?.rows).toBeGreaterThan(1_000)
    expect(records?.bytes).toBeGreaterThan(16_384)
  })
})
