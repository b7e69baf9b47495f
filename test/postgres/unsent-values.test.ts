import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './pg-context.ts'

const server = await requireServer('postgres')

describe.skipIf(!server.available)('pg: a value that cannot be sent, for a named statement', () => {
  let pool: ReturnType<typeof newPool>
  beforeEach(async () => {
    pool = newPool({ url: await createDatabase(server.url), pool: { max: 1 } })
  })
  afterEach(() => pool.end())

  test.each([false, true])('is the failure of its message only (interleave: %s)', async (interleave) => {
    const store = postgresStore({ pool, listen: false })
    await store.schema.install()
    await pool.query('CREATE TABLE tags (note text NOT NULL)')
    const transport = memoryTransport()
    const app = justonce({ store, transport, concurrency: 1 })
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const options = { name: 'tag-note', interleave, retry: { attempts: 1 } }
    app.on('note.created', options, async ({ id }, { tx }) => {
      const values = [id.startsWith('bad') ? circular : id]
      await tx.query({ name: 'tag', text: 'INSERT INTO tags VALUES ($1)', values })
    })
    await app.start()
    for (const batch of [['bad1'], ['m1', 'm2'], ['m3', 'bad2', 'm4', 'm5']]) {
      const before = transport.settled().length
      transport.send(batch.map((id) => ({ id, type: 'note.created', body: {} })))
      while (transport.settled().length < before + batch.length) await pause(5)
    }
    await app.stop()
    const { rows } = await pool.query<{ note: string }>('SELECT note FROM tags ORDER BY note')
    expect(rows.map(({ note }) => note)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
    expect((await store.parking.list()).map(({ key }) => key).sort()).toEqual(['bad1', 'bad2'])
    await store.close()
  })
})
