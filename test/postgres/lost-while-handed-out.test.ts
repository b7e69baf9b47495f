import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { atAddress, localhost } from '../servers/address.ts'
import { createDatabase, withClient } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('a connection that the server ends as soon as it is there', () => {
  test('fails the call that wanted it, and nothing else', async () => {
    const url = await createDatabase(postgres.url)
    const server = await serverThatEnds(url)
    const pool = new pg.Pool({ connectionString: atAddress(url, localhost, server.port) })
    const store = postgresStore({ pool })
    const uncaught: unknown[] = []
    const note = (error: unknown): void => void uncaught.push(error)
    process.on('uncaughtException', note)
    const error = await store.ping().catch((reason: unknown) => reason)
    expect(store.classify(error)).toBe('unavailable')
    await expect(store.queue.listen?.('news', () => {})).rejects.toThrow(/connection/i)
    process.off('uncaughtException', note)
    expect(uncaught).toEqual([])
    await store.close()
    await pool.end()
    server.stop()
  })
})

/** Everything that the real server says arrives at once: that the connection is ready, and that it is over. */
async function serverThatEnds(url: string): Promise<{ readonly port: number; stop(): void }> {
  const { hostname, port } = new URL(url)
  const listener = createServer(async (client: Socket) => {
    const server = connect(Number(port), hostname)
    const said = buffer(server)
    client.pipe(server)
    client.on('error', () => {})
    await once(client, 'data')
    await endSessions(url)
    client.end(await said)
  }).listen(0, localhost)
  await once(listener, 'listening')
  return { port: (listener.address() as AddressInfo).port, stop: () => void listener.close() }
}

/** As soon as there is one. */
async function endSessions(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = $1 AND pid <> pg_backend_pid() AND state = 'idle'`
  await withClient(postgres.url, async (admin) => {
    while ((await admin.query(end, [name])).rowCount === 0);
  })
}
