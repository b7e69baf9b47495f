import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Position } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { parkedMessage, request, toQueue } from '../../src/testing/sample-records.ts'
import { done, keysOf, park, reserve } from '../../src/testing/store-cases/parked-rows.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool, newSchema } from './pg-context.ts'

const postgres = await requireServer('postgres')

type Commands = readonly ('SELECT' | 'INSERT' | 'UPDATE' | 'DELETE')[]

/** Row-level security, rules and triggers can keep Postgres from doing what a statement says, and it does not call that an error. */
describe.skipIf(!postgres.available)('writes that Postgres leaves undone without a word', () => {
  let url: string
  let admin: pg.Pool
  let schema: string
  let owner: PostgresStore<pg.PoolClient>
  let store: PostgresStore<pg.PoolClient>
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    admin = newPool({ url })
  })
  afterAll(() => admin.end())
  beforeEach(async () => {
    schema = newSchema()
    owner = postgresStore({ pool: admin, schema, listen: false })
    await owner.schema.install()
    await admin.query(`
      CREATE ROLE ${schema} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema};
      CREATE FUNCTION ${schema}.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
    const address = new URL(url)
    address.username = schema
    const pool = newPool({ url: address.href })
    store = postgresStore({ pool, schema, listen: false })
    onTestFinished(async () => {
      await store.close()
      await pool.end()
      await admin.query(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`)
    })
  })

  /** With a policy for each of these commands, and none for the others. */
  const secure = async (table: string, commands: Commands) => {
    const policies = commands.map((command) => {
      const rows = command === 'INSERT' ? 'WITH CHECK (true)' : 'USING (true)'
      return `CREATE POLICY may_${command} ON ${schema}.${table} FOR ${command} ${rows}`
    })
    await admin.query([`ALTER TABLE ${schema}.${table} ENABLE ROW LEVEL SECURITY`, ...policies].join(';'))
  }
  const swallow = (what: 'INSERT' | 'UPDATE' | 'DELETE', table: string) =>
    admin.query(
      `CREATE TRIGGER nothing BEFORE ${what} ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.nothing()`,
    )
  const denied = { code: 'STORE_DENIED' }

  test('a claim that cannot be given back does not stay behind as if its message were processed', async () => {
    await secure('justonce_inbox_timeless', ['SELECT', 'INSERT', 'UPDATE'])
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1'), request('m2')])
      await store.inbox.update(tx, [{ ...request('m1'), state: 'unclaimed' }])
    })
    await expect(work).rejects.toMatchObject(denied)
    expect(await owner.inbox.find([request('m1'), request('m2')])).toEqual([undefined, undefined])
  })

  test('a record that cannot be changed', async () => {
    await secure('justonce_inbox_timeless', ['SELECT', 'INSERT', 'DELETE'])
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1')])
      await store.inbox.update(tx, [{ ...request('m1'), state: 'parked' }])
    })
    await expect(work).rejects.toMatchObject(denied)
  })

  test('a claim that cannot be made', async () => {
    await swallow('INSERT', 'justonce_inbox_timeless')
    const work = store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
    await expect(work).rejects.toMatchObject(denied)
  })

  test.each(['policy', 'rule', 'trigger'])(
    'a parked message that has succeeded and cannot be removed, because of a %s: its effects do not stay either',
    async (what) => {
      await park(owner, parkedMessage('m1'))
      const rule = `CREATE RULE keep AS ON DELETE TO ${schema}.justonce_parked DO INSTEAD NOTHING`
      if (what === 'policy') await secure('justonce_parked', ['SELECT', 'INSERT', 'UPDATE'])
      else if (what === 'rule') await admin.query(rule)
      else await swallow('DELETE', 'justonce_parked')
      const work = store.transaction((tx) => store.parking.change(tx, [done('m1')]))
      await expect(work).rejects.toMatchObject(denied)
    },
  )

  test('a parked message whose attempts cannot be counted', async () => {
    await park(owner, parkedMessage('m1'))
    await swallow('UPDATE', 'justonce_parked')
    const change = { ...parkedMessage('m1'), kind: 'again', attempts: 2, delayMs: 0 } as const
    await expect(store.transaction((tx) => store.parking.change(tx, [change]))).rejects.toMatchObject(denied)
  })

  test('a message that cannot be parked, and is not lost by that; one that is parked already is no trouble', async () => {
    await park(owner, parkedMessage('m1'))
    await swallow('INSERT', 'justonce_parked')
    await park(store, parkedMessage('m1'))
    await expect(park(store, parkedMessage('m1'), parkedMessage('m2'))).rejects.toMatchObject(denied)
  })

  test('a message that cannot be put into a queue', async () => {
    await swallow('INSERT', 'justonce_queue')
    const work = store.transaction((tx) => store.queue.send(tx, 'notes', [toQueue('m1')]))
    await expect(work).rejects.toMatchObject(denied)
  })

  test.each(['policy', 'trigger'])(
    'a message that cannot be removed from its queue, because of a %s: it is not gone, it waits, and that is reported',
    async (what) => {
      if (what === 'policy') await secure('justonce_queue', ['SELECT', 'INSERT', 'UPDATE'])
      else await swallow('DELETE', 'justonce_queue')
      const app = justonce({ store, transport: queueTransport({ store, queue: 'notes', pollMs: 10 }) })
      const kinds: string[] = []
      const stuck = new Promise((resolve) => {
        app.events.listen((event) => {
          kinds.push(event.kind)
          if (event.kind === 'stuck') resolve(event.error)
        })
      })
      app.on('note.created', 'tag-note', async () => {})
      await app.publish('note.created', 'm1')
      await app.start()
      expect(await stuck).toMatchObject(denied)
      await app.stop()
      expect(kinds).not.toContain('delivery-gone')
      expect(await owner.queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
    },
  )

  test('parked messages that cannot be reserved: it does not look as if none were due', async () => {
    await park(owner, parkedMessage('m1'), parkedMessage('m2'))
    await swallow('UPDATE', 'justonce_parked')
    await expect(reserve(store)).rejects.toMatchObject(denied)
    await admin.query(`DROP TRIGGER nothing ON ${schema}.justonce_parked`)
    expect(keysOf(await reserve(store, { limit: 1 }))).toEqual(['m1'])
    expect(keysOf(await reserve(store))).toEqual(['m2'])
    expect(await reserve(store)).toEqual([])
  })

  test('a message that was sent and cannot be removed: whoever sends it again and again is told', async () => {
    await owner.queue.send(undefined, 'notes', [toQueue('m1'), toQueue('m2')])
    const tickets = (await store.queue.take('notes', { limit: 10, visibilityMs: 30_000 })).map(({ ticket }) => ticket)
    await swallow('DELETE', 'justonce_queue')
    await expect(store.queue.remove(undefined, 'notes', tickets)).rejects.toMatchObject(denied)
    await admin.query(`DROP TRIGGER nothing ON ${schema}.justonce_queue`)
    await store.queue.remove(undefined, 'notes', tickets.slice(0, 1))
    // What another process has removed is gone.
    await store.queue.remove(undefined, 'notes', tickets)
    expect(await owner.queue.count('notes')).toMatchObject({ ready: 0, hidden: 0 })
  })

  test.each([
    { what: 'begin', expected: undefined, command: 'INSERT' },
    { what: 'move on', expected: { next: '1', incarnation: 'a' }, command: 'UPDATE' },
  ] as const)(
    'a position that cannot $what is not taken for that of another process',
    async ({ expected, command }) => {
      const move = (from: Position | undefined, next: string) =>
        store.transaction((tx) =>
          store.positions.move(tx, 'group', [
            { source: 'notes', partition: '0', expected: from, to: { next, incarnation: 'a' } },
          ]),
        )
      if (expected !== undefined) expect(await move(undefined, '1')).toEqual([undefined])
      await swallow(command, 'justonce_positions')
      await expect(move(expected, '2')).rejects.toMatchObject(denied)
      expect(await store.positions.load('group', [{ source: 'notes', partition: '0' }])).toEqual([expected])
    },
  )

  test('a record whose unique index is missing, because a restore has failed halfway, is not made twice', async () => {
    const claim = () => store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
    expect(await claim()).toMatchObject({ existing: [undefined] })
    await admin.query(`ALTER TABLE ${schema}.justonce_inbox DROP CONSTRAINT justonce_inbox_pkey`)
    await expect(claim()).rejects.toMatchObject(denied)
    await admin.query(`ALTER TABLE ${schema}.justonce_inbox ADD PRIMARY KEY (handler, key, born)`)
    expect(await claim()).toMatchObject({ existing: [{ state: 'processed' }] })
  })

  test('a claim that meets a unique index of somebody else', async () => {
    await admin.query(`CREATE UNIQUE INDEX ON ${schema}.justonce_inbox_timeless (handler)`)
    const work = store.transaction((tx) => store.inbox.claim(tx, [request('m1'), request('m2')]))
    await expect(work).rejects.toMatchObject(denied)
  })

  test('messages that cannot be taken: their queue does not look empty', async () => {
    await owner.queue.send(undefined, 'notes', [toQueue('m1'), toQueue('m2')])
    await swallow('UPDATE', 'justonce_queue')
    await expect(store.queue.take('notes', { limit: 10, visibilityMs: 30_000 })).rejects.toMatchObject(denied)
  })

  test('triggers that may change what is written are reported at the start, because another key would protect nothing', async () => {
    await swallow('DELETE', 'justonce_queue')
    expect(await store.warnings?.()).toEqual([])
    await swallow('INSERT', 'justonce_inbox_timeless')
    await swallow('UPDATE', 'justonce_parked')
    expect(await store.warnings?.()).toMatchObject([
      {
        code: 'TABLES_HAVE_TRIGGERS',
        message: expect.stringContaining('nothing on justonce_inbox_timeless, nothing on justonce_parked'),
      },
    ])
    await admin.query(`ALTER TABLE ${schema}.justonce_inbox_timeless DISABLE TRIGGER nothing`)
    await admin.query(`DROP TRIGGER nothing ON ${schema}.justonce_parked`)
    expect(await store.warnings?.()).toEqual([])
  })

  test('row-level security that applies to the role is reported at the start, because rows that are not seen are not missed', async () => {
    expect(await store.warnings?.()).toEqual([])
    await secure('justonce_parked', ['SELECT', 'INSERT', 'DELETE'])
    expect(await store.warnings?.()).toMatchObject([{ code: 'ROWS_MAY_BE_HIDDEN' }])
    expect(await owner.warnings?.()).toEqual([])
  })
})
