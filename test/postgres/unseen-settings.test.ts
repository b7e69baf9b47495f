import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'
import { newPool } from './pg-context.ts'

const server = await requireServer('postgres')

/** Settings that no text of a handler shows, or that were there before it. */
describe.skipIf(!server.available).each(poolsOf)('$client: settings that are not seen', ({ open }) => {
  let admin: pg.Pool
  let shared: SharedPool
  let role: string
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    role = `role_${new URL(url).pathname.slice(-12)}`
    admin = newPool({ url })
    shared = open({ url, max: 1 })
    await shared.store.schema.install()
    await admin.query(`CREATE TABLE tags (note text NOT NULL); CREATE ROLE ${role}; GRANT ALL ON tags TO ${role}`)
  })
  afterEach(async () => {
    await shared.close()
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await admin.end()
  })

  const routine = (name: string, body: string, returns = 'void') =>
    admin.query(`CREATE FUNCTION ${name}() RETURNS ${returns} LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`)

  /** What each of three messages in one batch finds before it does its work, by the first column of the statement. */
  async function found(look: string, first: string): Promise<readonly unknown[]> {
    const seen = new Map<string, unknown>()
    const transport = memoryTransport()
    const app = justonce({
      store: shared.store,
      from: transport,
      to: memoryTransport({ name: 'elsewhere' }),
      concurrency: 1,
    })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { tx, publish }) => {
      const [row] = await shared.run(tx, look)
      seen.set(id, Object.values(row ?? {})[0] || null)
      if (id === 'm1') await shared.run(tx, first)
      await publish('tag.made', { id })
    })
    const troubles: unknown[] = []
    app.events.listen((event) => {
      if (event.kind === 'stuck' || event.kind === 'parked') troubles.push(event.error)
    })
    await app.start()
    transport.send(['m1', 'm2', 'm3'].map((id) => ({ id, type: 'note.created', body: {} })))
    while (transport.settled().filter(({ id }) => id?.startsWith('m')).length < 3 && troubles.length === 0)
      await pause(5)
    await app.stop()
    expect(troubles).toEqual([])
    return ['m1', 'm2', 'm3'].map((id) => seen.get(id))
  }

  const tenant = `SELECT current_setting('app.tenant', true)`

  test.each([
    ['a setting of the application', `SET app.tenant = 'main'`, tenant, `SET LOCAL app.tenant = 'x'`, 'main'],
    [
      'a setting of Postgres',
      `SET timezone = 'Asia/Tokyo'`,
      'SHOW timezone',
      `SET LOCAL timezone = 'UTC'`,
      'Asia/Tokyo',
    ],
  ])(
    'what the pool has set for its sessions is there again for the next message: %s',
    async (_, set, look, first, is) => {
      await shared.query(set)
      expect(await found(look, first)).toEqual([is, is, is])
    },
  )

  test('what a function sets ends with the handler', async () => {
    await routine('set_tenant', `PERFORM set_config('app.tenant', 'x', true);`)
    expect(await found(tenant, 'SELECT set_tenant()')).toEqual([null, null, null])
  })

  test('what a trigger sets ends with the handler', async () => {
    await routine('audited', `SET LOCAL app.tenant = 'x'; RETURN NEW;`, 'trigger')
    await admin.query('CREATE TRIGGER audited BEFORE INSERT ON tags FOR EACH ROW EXECUTE FUNCTION audited()')
    expect(await found(tenant, `INSERT INTO tags VALUES ('m1')`)).toEqual([null, null, null])
  })

  test('what a block sets ends with the handler', async () => {
    const block = `DO $$ BEGIN PERFORM set_config('app.tenant', 'x', true); END $$`
    expect(await found(tenant, block)).toEqual([null, null, null])
  })

  test('a role that a function has taken on is left before anything of ours is written', async () => {
    await routine('become', `SET LOCAL ROLE ${role};`)
    expect(await found('SELECT current_user', 'SELECT become()')).toEqual(['postgres', 'postgres', 'postgres'])
    expect(await shared.store.queue.queues()).toEqual([])
  })

  test('a handler that swallows the failure of a statement fails as it does elsewhere', async () => {
    await routine('set_tenant', `PERFORM set_config('app.tenant', 'x', true);`)
    const app = justonce({ store: shared.store })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async (_, { tx }) => {
      await shared.run(tx, 'SELECT 1 / 0').catch(() => {})
    })
    const { handlers } = await app.deliver({ id: 'm1', type: 'note.created', body: {} })
    expect(handlers).toMatchObject({ 'tag-note': { status: 'parked', error: { code: 'TX_ABORTED' } } })
  })

  test('what is set for the session by a value that stands for false does not outlive the transaction', async () => {
    expect(await found(tenant, `SELECT set_config('app.tenant', 'x', 1 = 0)`)).toEqual([null, null, null])
    const [row] = await shared.store.transaction((tx) => shared.run(tx, tenant))
    expect(Object.values(row ?? {})[0] || null).toBe(null)
  })

  test.each([
    ['a setting of the application', 'app.tenant', tenant, null],
    ['the search_path', 'search_path', 'SELECT current_schema()', 'public'],
  ])('what a function sets for the session does not outlive the transaction: %s', async (_, name, look, is) => {
    await routine('set_for_session', `PERFORM set_config('${name}', 'pg_catalog', false);`)
    expect(await found(look, 'SELECT set_for_session()')).toEqual([is, is, is])
    const [row] = await shared.store.transaction((tx) => shared.run(tx, look))
    expect(Object.values(row ?? {})[0] || null).toBe(is)
  })
})
