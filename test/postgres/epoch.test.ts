import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase, withClient } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newSchema } from './pg-context.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('the epoch of a Postgres store', () => {
  test("is there without the server's start, where the role may not ask for it, and still tells dropped tables", async () => {
    const url = await createDatabase(postgres.url)
    const role = newSchema()
    await withClient(url, async (client) => {
      await client.query('REVOKE EXECUTE ON FUNCTION pg_catalog.pg_postmaster_start_time() FROM PUBLIC')
      await client.query(`CREATE ROLE ${role} LOGIN; GRANT ALL ON SCHEMA public TO ${role}`)
    })
    const restricted = new URL(url)
    restricted.username = role
    const pool = new pg.Pool({ connectionString: restricted.href, max: 2 })
    try {
      await expect(pool.query('SELECT pg_postmaster_start_time()')).rejects.toThrow('permission denied')
      const store = postgresStore({ pool })
      await store.schema.install()
      const claim = () =>
        store.transaction((tx) => store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }]))
      const { epoch } = await claim()
      expect((await claim()).epoch).toBe(epoch)
      await pool.query('CREATE TABLE kept AS TABLE justonce_meta; TRUNCATE justonce_meta')
      await pool.query('INSERT INTO justonce_meta SELECT * FROM kept')
      expect((await claim()).epoch).not.toBe(epoch)
    } finally {
      await pool.end()
      await withClient(url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
    }
  })

  test('is another one in a copy made from a template, also when that takes the place of the original', async () => {
    const original = await createDatabase(postgres.url)
    const kept = `${new URL(original).pathname.slice(1)}_kept`
    const copy = (to: string, from: string) =>
      withClient(postgres.url, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${to} WITH (FORCE)`)
        await client.query(`CREATE DATABASE ${to} TEMPLATE ${from}`)
      })
    const epochAt = async (url: string): Promise<string> => {
      const pool = new pg.Pool({ connectionString: url, max: 1 })
      try {
        const store = postgresStore({ pool })
        await store.schema.install()
        const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }
        return (await store.transaction((tx) => store.inbox.claim(tx, [request]))).epoch
      } finally {
        await pool.end()
      }
    }
    const first = await epochAt(original)
    expect(await epochAt(original)).toBe(first)
    await copy(kept, new URL(original).pathname.slice(1))
    const ofTheCopy = await epochAt(new URL(kept, original).href)
    await copy(new URL(original).pathname.slice(1), kept)
    expect(new Set([first, ofTheCopy, await epochAt(original)]).size).toBe(3)
    // Each database that is made or dropped waits for a checkpoint, and that for whatever else the machine writes.
  }, 180_000)
})
