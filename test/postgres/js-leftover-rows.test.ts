import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const server = await requireServer('postgres')

test.skipIf(!server.available)(
  'an answer that postgres.js begins behind the rows of a failed one is read',
  async () => {
    const sql = postgres(await createDatabase(server.url), { max: 1, onnotice() {} })
    onTestFinished(() => sql.end())
    const store = postgresStore({ sql, listen: false })
    await store.schema.install()
    const message = { envelope: Uint8Array.of(1), body: Uint8Array.of(2) }
    await store.queue.send(undefined, 'notes', [{ message, key: undefined }])
    // The server sends two rows and then the error. postgres.js goes on to count from there.
    await expect(sql`SELECT 1 / (3 - g) FROM generate_series(1, 5) AS g`).rejects.toMatchObject({ code: '22012' })
    const taken = await store.queue.take('notes', { limit: 1, visibilityMs: 60_000 })
    expect(taken.map(({ message }) => [...message.body])).toEqual([[2]])
  },
)
