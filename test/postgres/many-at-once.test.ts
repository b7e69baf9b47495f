import { describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf } from './opened-clients.ts'

const server = await requireServer('postgres')

describe.skipIf(!server.available).each(poolsOf)('$client', ({ open }) => {
  test('concurrency: 20 runs twenty slow handlers at once, each in a transaction of its own', async () => {
    const url = await createDatabase(server.url)
    const shared = open({ url, max: 23 })
    const transport = memoryTransport()
    const app = justonce({ store: shared.store, transport, heartbeat: false, concurrency: 20 })
    const gate = Promise.withResolvers<void>()
    const backends = new Set<unknown>()
    app.on('note.created', 'tag-note', async ({ id }, { tx }) => {
      await shared.run(tx, `INSERT INTO tags VALUES ('${id}')`)
      const [session] = await shared.run(tx, 'SELECT pg_backend_pid() AS pid')
      backends.add(session?.pid)
      if (backends.size === 20) gate.resolve()
      await gate.promise
    })
    await shared.store.schema.install()
    await shared.query('CREATE TABLE tags (note text PRIMARY KEY)')
    await app.start()
    try {
      transport.send(Array.from({ length: 20 }, (_, index) => ({ id: `m${index}`, type: 'note.created', body: {} })))
      await expect.poll(() => backends.size).toBe(20)
      await expect.poll(() => transport.settled().length).toBe(20)
    } finally {
      gate.resolve()
      await app.stop()
      await shared.close()
    }
  })
})
