import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { newPool, newSchema } from '../postgres/pg-context.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('a Postgres that cannot be used', () => {
  let url: string
  const closing: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  function openApp(schema: 'install' | 'check' = 'install') {
    const pool = newPool({ url })
    const admin = newPool({ url, pool: { max: 1 } })
    closing.push(() => admin.end())
    const inSchema = newSchema()
    const store = postgresStore({ pool, schema: inSchema, listen: false })
    const transport = memoryTransport()
    const clock = fakeClock()
    const app = justonce({ store, transport, clock, schema })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    app.on('note.created', 'tag-note', () => {})
    return { app, store, pool, admin, transport, clock, events, inSchema }
  }

  test('a pool that was closed: nothing is acknowledged, and stopping gives everything back', async () => {
    const { app, pool, transport, clock, events } = openApp()
    await app.start()
    onTestFinished(() => app.stop())
    // Nothing is under way: the loops for retries, redrives, sending, housekeeping, maintenance and heartbeats have looked and sleep.
    await expect.poll(() => clock.waiting()).toBe(6)
    await pool.end()
    transport.send(['m1', 'm2'].map((id) => ({ id, type: 'note.created', body: {} })))
    const down = await vi.waitFor(async () => {
      await clock.advance(100)
      return events.find((event) => event.kind === 'store-down') ?? Promise.reject(new Error('not yet'))
    })
    expect(down.error).toMatchObject({ code: 'STORE_CLOSED', message: expect.stringContaining('app.stop()') })
    expect(transport.settled()).toEqual([])
    await app.stop()
    expect(transport.pending()).toHaveLength(2)
    expect(events.filter(({ kind }) => kind === 'parked')).toEqual([])
  })

  test.each([
    ['missing', undefined, 'check' as const, 'SCHEMA_MISSING'],
    ['newer than the code', 99, 'install' as const, 'SCHEMA_NEW'],
    ['newer than the code', 99, 'check' as const, 'SCHEMA_NEW'],
  ])('tables that are %s: the app does not start, and takes nothing', async (_, version, schema, code) => {
    const { app, store, pool, admin, transport, inSchema } = openApp(schema)
    closing.push(() => pool.end())
    if (version !== undefined) {
      await store.schema.install()
      await admin.query(`UPDATE ${inSchema}.justonce_meta SET version = ${version}`)
    }
    transport.send({ id: 'm1', type: 'note.created', body: {} })
    await expect(app.start()).rejects.toMatchObject({ code })
    expect(transport.pending()).toHaveLength(1)
    await store.close()
  })
})
