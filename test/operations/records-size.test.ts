import mysql from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { operations, type Store } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')
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
