import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PgBouncerServer, startPgBouncer } from './pgbouncer.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { createDatabase, withClient } from './postgres-databases.ts'
import { descendantsOf, isRunning } from './process-tree.ts'
import { requireBinaries, requireServer } from './require.ts'

const sharedPostgres = await requireServer('postgres')
const sharedPgBouncer = await requireServer('pgbouncer')
const ownPostgres = await requireBinaries('postgres')
const ownPgBouncer = await requireBinaries('pgbouncer')

describe.skipIf(!sharedPostgres.available)('the shared Postgres', () => {
  test('reports the version it runs', async () => {
    expect(sharedPostgres.version).toMatch(/^\d+\.\d+/)
    const version = await withClient(sharedPostgres.url, (client) => client.query('SELECT version()'))
    expect(version.rows[0].version).toContain(`PostgreSQL ${sharedPostgres.version}`)
  })

  test('gives every caller an empty database of its own', async () => {
    const [one, other] = await Promise.all([createDatabase(sharedPostgres.url), createDatabase(sharedPostgres.url)])
    expect(one).not.toBe(other)
    await withClient(one, (client) => client.query('CREATE TABLE effect ()'))
    const { rows } = await withClient(other, (client) => client.query("SELECT to_regclass('effect') AS found"))
    expect(rows).toEqual([{ found: null }])
  })

  test.skipIf(!sharedPgBouncer.available)('is behind the shared PgBouncer', async () => {
    const { rows } = await withClient(sharedPgBouncer.url, (client) => client.query('SHOW server_version'))
    expect(rows[0].server_version).toContain(sharedPostgres.version)
  })
})

describe.skipIf(!ownPostgres.available)('an own Postgres', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: 50 } })
  })
  afterAll(() => server?.stop())

  test('takes settings and keeps the durable defaults', async () => {
    const settings = "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'max_connections') ORDER BY name"
    const { rows } = await withClient(server.url, (client) => client.query(settings))
    expect(rows.map((row) => row.setting)).toEqual(['on', '50'])
  })

  test('keeps committed data, and only that, through kill -9 and restart', async () => {
    const url = await server.createDatabase('kept')
    await withClient(url, (client) => client.query('CREATE TABLE effect (id int); INSERT INTO effect VALUES (1)'))
    const backends = processesOf(server)
    await withClient(url, async (client) => {
      await client.query('BEGIN; INSERT INTO effect VALUES (2)')
      await server.kill9()
    })
    expect(backends.filter(isRunning)).toEqual([])
    await expect(withClient(url, (client) => client.query('SELECT 1'))).rejects.toThrow('ECONNREFUSED')

    await server.restart()
    const { rows } = await withClient(url, (client) => client.query('SELECT id FROM effect'))
    expect(rows).toEqual([{ id: 1 }])
  })

  test('restarts from running too', async () => {
    await server.restart()
    await withClient(server.url, (client) => client.query('SELECT 1'))
  })
})

describe.skipIf(!ownPgBouncer.available || !sharedPostgres.available)('an own PgBouncer', () => {
  let pooler: PgBouncerServer
  beforeAll(async () => {
    pooler = await startPgBouncer({ postgresUrl: sharedPostgres.url, poolMode: 'transaction', poolSize: 1 })
  })
  afterAll(() => pooler?.stop())

  test('lends its connection for one transaction only', async () => {
    const url = pooler.through(await createDatabase(sharedPostgres.url))
    const backend = 'SELECT pg_backend_pid() AS pid'
    await withClient(url, (first) =>
      withClient(url, async (second) => {
        // In session mode the second client would wait for the first to leave, as there is one connection only.
        const one = await first.query(backend)
        const other = await second.query(backend)
        expect(one.rows).toEqual(other.rows)
      }),
    )
  })
})

/** The server itself and everything below it. */
function processesOf(server: PostgresServer): number[] {
  const postmaster = Number(readFileSync(join(server.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  return [postmaster, ...descendantsOf(postmaster)]
}
