import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unpackMessage } from '../../src/encoding/packed-message.ts'
import { type HandlerOptions, type JustonceEvent, justonce } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase, prefixOfThisRun, withClient } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('what a transaction holds until its end', () => {
  let pool: pg.Pool
  let connections = 0
  let store: PostgresStore<pg.PoolClient>
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: await createDatabase(postgres.url), max: 8 })
    pool.on('connect', () => connections++)
    store = postgresStore({ pool })
    await store.schema.install()
    await pool.query(`
      CREATE TABLE effects (name text NOT NULL);
      CREATE TABLE nothing (id int PRIMARY KEY);
      CREATE TABLE late (id int REFERENCES nothing DEFERRABLE INITIALLY DEFERRED)`)
  })
  afterAll(async () => {
    await store.close()
    await pool.end()
  })

  async function handle(
    count: number,
    options: Omit<HandlerOptions, 'name'>,
    run: (id: string, context: { readonly tx: pg.PoolClient }) => Promise<unknown>,
  ) {
    const name = `tag-note-${crypto.randomUUID()}`
    const transport = memoryTransport()
    const app = justonce({ store, transport, concurrency: 1 })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    app.on('note.created', { name, ...options }, ({ id }, context) => run(id, context))
    transport.send(Array.from({ length: count }, (_, index) => ({ id: `m${index}`, type: 'note.created', body: {} })))
    await app.start()
    await transport.idle()
    await app.stop()
    const processed = events.filter((event) => event.kind === 'processed').length
    return { processed, letters: await store.parking.list({ handler: name }), events }
  }

  test('temporary tables that end with it and cursors make no dead letters in a batch', async () => {
    const { processed, letters } = await handle(200, { retry: { attempts: 1 } }, async (id, { tx }) => {
      await tx.query('CREATE TEMP TABLE lines (name text) ON COMMIT DROP')
      await tx.query('DECLARE all_lines CURSOR FOR SELECT * FROM lines')
      await tx.query('INSERT INTO effects VALUES ($1)', [id])
    })
    expect(letters).toEqual([])
    expect(processed).toBe(200)
    const { rows } = await pool.query('SELECT count(*)::int AS all, count(DISTINCT name)::int AS names FROM effects')
    expect(rows).toEqual([{ all: 200, names: 200 }])
  })

  test('an error at the commit costs no connection', async () => {
    const before = connections
    const { letters, events } = await handle(60, { retry: { attempts: 1 }, breaker: false }, (_, { tx }) =>
      tx.query('INSERT INTO late VALUES (1)'),
    )
    expect(letters).toHaveLength(60)
    expect(events.filter(({ kind }) => kind === 'store-down')).toEqual([])
    expect(connections - before).toBeLessThan(8)
  })

  test('a handler that ends its own backend uses up its attempts, and its neighbours are handled', async () => {
    const retry = { attempts: 1 }
    const { processed, letters, events } = await handle(6, { retry }, (id, { tx }) =>
      tx.query(id === 'm2' ? 'SELECT pg_terminate_backend(pg_backend_pid())' : 'SELECT 1'),
    )
    expect(letters.map(({ key, state, attempts }) => [key, state, attempts])).toEqual([['m2', 'dead', 1]])
    expect(processed).toBe(5)
    expect(events.filter(({ kind }) => kind === 'store-down')).toEqual([])
  })
})

describe.skipIf(!postgres.available)('a database that does not hold all of Unicode', () => {
  test('a message whose key it cannot hold becomes a dead letter, whole, and its neighbours are handled', async () => {
    const database = `${prefixOfThisRun()}latin1`
    const encoding = `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`
    await withClient(postgres.url, (client) => client.query(`CREATE DATABASE ${database} ${encoding}`))
    const url = new URL(postgres.url)
    url.pathname = `/${database}`
    const pool = new pg.Pool({ connectionString: url.href })
    const store = postgresStore({ pool })
    const transport = memoryTransport()
    const app = justonce({ store, transport })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    const handled: string[] = []
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id, body }) => {
      if (body === 'fail') throw new Error('kein Glück ⌘')
      handled.push(id)
    })
    const note = (id: string, body = 'ok', key?: string) => ({ id, type: 'note.created', body, ...(key && { key }) })
    transport.send([note('m1'), note('⌘ 1'), note('m2'), { ...note('⌘ 2'), type: '⌘' }, note('m3', 'fail'), note('m4')])
    await app.start()
    await transport.idle()
    await app.stop()
    expect([...new Set(handled)].toSorted()).toEqual(['m1', 'm2', 'm4'])
    const letters = await app.operations.letters.list()
    expect(letters.map(({ messageId, reason }) => [messageId, reason]).toSorted()).toEqual([
      ['\\u2318 1', 'MESSAGE_NOT_KEPT'],
      ['\\u2318 2', 'MESSAGE_NOT_KEPT'],
      ['m3', 'HANDLER_FAILED'],
    ])
    expect(letters.find(({ messageId }) => messageId === 'm3')?.errors.at(-1)?.message).toContain('kein Glück ⌘')
    expect(
      (await store.parking.list({ handler: '-' })).map(({ message }) => unpackMessage(message).id).toSorted(),
    ).toEqual(['⌘ 1', '⌘ 2'])
    expect(events.filter(({ kind }) => kind === 'store-down')).toEqual([])
    expect(events.filter(({ kind }) => kind === 'stuck').length).toBeGreaterThan(1)
    const warnings = events.flatMap((event) => (event.kind === 'warning' ? event : []))
    expect(warnings.filter(({ code }) => code === 'ENCODING_TOO_NARROW')).toEqual([
      expect.objectContaining({ message: expect.stringContaining('LATIN1') }),
    ])
    await store.close()
    await pool.end()
  })
})
