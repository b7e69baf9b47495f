import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type JustonceEvent, justonce, uuidv7 } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { runJustonce } from '../cli/run-justonce.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool, newSchema } from './pg-context.ts'
import { aDay, daysFromNow } from './retention-steps.ts'

const postgres = await requireServer('postgres')

type Handle = (context: { publish(type: string, body: unknown): Promise<unknown> }) => Promise<unknown>

describe.skipIf(!postgres.available)('a role that may not do everything', () => {
  let url: string
  let admin: pg.Pool
  let schema: string
  let owner: PostgresStore<pg.PoolClient>
  let modest: PostgresStore<pg.PoolClient>
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    admin = newPool({ url })
  })
  afterAll(() => admin.end())
  beforeEach(async () => {
    schema = newSchema()
    owner = postgresStore({ pool: admin, schema, listen: false })
    await owner.schema.install()
    await owner.retention.prepare(2 * aDay)
    await admin.query(`
      CREATE ROLE ${schema} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
    const address = new URL(url)
    address.username = schema
    const pool = newPool({ url: address.href })
    modest = postgresStore({ pool, schema, listen: false })
    onTestFinished(async () => {
      await modest.close()
      await pool.end()
      await admin.query(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`)
    })
  })

  const run = (messages: readonly { id: string }[], handle: Handle = async () => {}) => {
    const transport = memoryTransport()
    const app = justonce({
      store: modest,
      from: transport,
      to: memoryTransport({ name: 'elsewhere' }),
      ids: 'uuidv7',
      concurrency: 1,
    })
    const events: JustonceEvent[] = []
    const waiting = new Set<() => void>()
    const handled: string[] = []
    const look = () => {
      for (const each of waiting) each()
    }
    app.events.listen((event) => {
      events.push(event)
      look()
    })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, context) => {
      await handle(context)
      handled.push(id)
    })
    transport.send(messages.map(({ id }) => ({ id, type: 'note.created', body: {} })))
    onTestFinished(() => app.stop())
    const until = (isSo: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!isSo()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      })
    const of = <K extends JustonceEvent['kind']>(kind: K) =>
      events.filter((event): event is Extract<JustonceEvent, { kind: K }> => event.kind === kind)
    return { app, transport, events, handled, until, of }
  }

  test('a message of a day that it may not make waits alone until the owner has made it', async () => {
    const today = Array.from({ length: 20 }, () => ({ id: uuidv7() }))
    const old = { id: uuidv7(daysFromNow(-40).getTime()) }
    const { app, transport, handled, until, of } = run([...today.slice(0, 10), old, ...today.slice(10)])
    await app.start()
    // As often as a message that the store really cannot keep is given.
    await until(() => of('processed').length === 20 && of('stuck').length > 2)
    expect(handled.toSorted()).toEqual(today.map(({ id }) => id).toSorted())
    const [stuck] = of('stuck')
    expect(stuck).toMatchObject({ messageId: old.id, error: { code: 'PARTITION_MISSING' } })
    expect(String(stuck?.error)).toContain('justonce migrate')
    expect(await app.operations.letters.list()).toEqual([])

    const [day = ''] = daysFromNow(-40).toISOString().split('T')
    const env = { TEST_POSTGRES: url, TEST_SCHEMA: schema }
    const args = ['migrate', '--store', 'test/cli/fixtures/postgres.ts', '--days-from', day]
    expect(await runJustonce(args, env)).toMatchObject({ code: 0, err: '' })
    await transport.idle()
    expect(handled).toHaveLength(21)
    expect(handled.at(-1)).toBe(old.id)
    expect(of('store-down')).toEqual([])
    expect(await app.operations.letters.list()).toEqual([])
  }, 120_000)

  test.each<{ table: string; handle: Handle; letters: readonly string[] }>([
    { table: 'inbox', handle: async () => {}, letters: [] },
    { table: 'queue', handle: (context) => context.publish('note.tagged', {}), letters: [] },
    {
      table: 'parked',
      handle: () => Promise.reject(new Error('no luck')),
      letters: ['HANDLER_FAILED', 'HANDLER_FAILED', 'HANDLER_FAILED'],
    },
  ])(
    'without its right to insert into $table messages are held, and it says why',
    async ({ table, handle, letters }) => {
      await admin.query(`REVOKE INSERT ON ${schema}.justonce_${table} FROM ${schema}`)
      const messages = Array.from({ length: 3 }, () => ({ id: uuidv7() }))
      const { app, transport, until, of } = run(messages, handle)
      await app.start()
      const pausesOf = (id: string) =>
        of('stuck').flatMap(({ messageId, pauseMs }) => (messageId === id ? pauseMs : []))
      await until(() => messages.every(({ id }) => pausesOf(id).length > 1))
      for (const { id } of messages) expect(pausesOf(id).slice(0, 2)).toEqual([1_000, 2_000])
      for (const { error } of of('stuck')) expect(error).toMatchObject({ code: 'STORE_DENIED' })
      expect(await owner.parking.list({})).toEqual([])
      expect([of('processed'), of('store-down')]).toEqual([[], []])

      await admin.query(`GRANT INSERT ON ${schema}.justonce_${table} TO ${schema}`)
      await transport.idle()
      expect((await owner.parking.list({ handler: 'tag-note' })).map(({ reason }) => reason)).toEqual(letters)
      expect(of('processed')).toHaveLength(3 - letters.length)
    },
  )
})
