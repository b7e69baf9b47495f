import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock/index.ts'
import type { Store } from '../../src/contracts/index.ts'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { type AppOptions, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { newPool } from '../postgres/pg-context.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { doctor, type Found, named } from './doctor-findings.ts'

const postgres = await requireServer('postgres')

type Options = Partial<AppOptions<Store, Record<string, unknown>>>

/** What the doctor finds on a SQLite file while these apps run on it, once it has heard of all of them. */
async function foundWhileRunning(...apps: readonly Options[]): Promise<readonly Found[]> {
  return await doctor('--store', `sqlite:${await runningOn(...apps)}`)
}

/** The file on which these apps run. */
async function runningOn(...apps: readonly Options[]): Promise<string> {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  for (const options of apps) {
    const store = sqliteStore({ path }) as unknown as Store
    const app = justonce({ store, transport: memoryTransport(), log: false, ...options } as AppOptions<
      Store,
      Record<string, unknown>
    >)
    app.on('order.created', 'send-invoice', () => {})
    await app.start()
    onTestFinished(async () => {
      await app.stop()
      await store.close()
    })
    await eventually(
      async () =>
        (await app.operations.processes()).some(({ app: name }) => name === options.name) ? true : undefined,
      'its heartbeat',
    )
  }
  return path
}

const packedOrder = toQueue({
  ...{ id: 'o1', type: 'order.created', key: undefined, body: Uint8Array.of(1), headers: {}, sentAt: new Date() },
})

describe('the doctor asks processes by their heartbeats', () => {
  test('whether their clocks agree with the database', async () => {
    expect(named(await foundWhileRunning({ name: 'shop' }), 'clocks')).toMatchObject([{ level: 'ok' }])
    const ahead = { ...systemClock, now: () => new Date(Date.now() + 3_600_000) }
    expect(named(await foundWhileRunning({ name: 'shop', clock: ahead }), 'clocks')).toMatchObject([
      { level: 'problem', found: expect.stringMatching(/is (60m|1h) ahead of the database's$/) },
    ])
  })

  test('whether two apps have a handler of one name: each would skip what the other has processed', async () => {
    expect(named(await foundWhileRunning({ name: 'shop' }, { name: 'shop' }), 'handler names')).toEqual([])
    const [clash, ...others] = named(await foundWhileRunning({ name: 'shop' }, { name: 'billing' }), 'handler names')
    expect(others).toEqual([])
    expect(clash).toMatchObject({ level: 'problem', found: expect.stringMatching(/^send-invoice is a handler of /) })
  })

  test('whether somebody has each duty that is needed', async () => {
    const duties = async (options: Options) =>
      named(await foundWhileRunning({ name: 'shop', ...options }), 'duties').map(({ level, found }) => [level, found])
    expect(await duties({})).toEqual([])
    const from = memoryTransport()
    expect(await duties({ transport: undefined, from, only: ['consumer', 'retries'] })).toEqual([
      ['problem', 'no process has the duty maintenance'],
    ])
    expect(await duties({ only: ['consumer', 'retries', 'maintenance'] })).toEqual([
      ['notice', expect.stringContaining('no process has the duty relay: ')],
    ])
    expect(await duties({ only: ['relay', 'retries', 'maintenance'] })).toEqual([
      ['notice', expect.stringContaining('no process has the duty consumer: ')],
    ])
  })

  test('whether messages wait for somebody who is not there', async () => {
    const path = await runningOn({ name: 'shop', only: ['retries', 'maintenance'] })
    const store = sqliteStore({ path })
    onTestFinished(() => store.close())
    for (const queue of ['orders', '>events']) await store.queue.send(undefined, queue, [packedOrder])
    expect(named(await doctor('--store', `sqlite:${path}`), 'duties')).toMatchObject([
      { level: 'problem', found: 'no process has the duty relay, and published messages wait' },
      { level: 'problem', found: 'no process has the duty consumer, and messages wait in a queue' },
    ])
  })

  test('whether records are kept for as long as a source may redeliver', async () => {
    const transport = { ...memoryTransport(), redeliversForMs: async () => 30 * 86_400_000 }
    const keeping = (days: number) => ({ name: 'shop', ids: 'uuidv7' as const, transport, retention: { days } })
    expect(named(await foundWhileRunning(keeping(31)), 'RETENTION_TOO_SHORT')).toEqual([])
    expect(named(await foundWhileRunning(keeping(7)), 'RETENTION_TOO_SHORT')).toMatchObject([
      { level: 'problem', found: expect.stringContaining('30 days, records are kept for 7 days') },
    ])
  })
})

describe.skipIf(!postgres.available)('the doctor on Postgres while an app runs', () => {
  test.for([
    { max: 3, concurrency: 2, found: [expect.objectContaining({ level: 'problem' })] },
    { max: 4, concurrency: 2, found: [] },
  ])('a pool of $max for $concurrency batches at once', async ({ max, concurrency, found }) => {
    const url = await createDatabase(postgres.url)
    const pool = newPool({ url, pool: { max } })
    const app = justonce({
      ...{ store: postgresStore({ pool, listen: false }), transport: memoryTransport(), log: false, concurrency },
    })
    app.on('order.created', 'send-invoice', () => {})
    onTestFinished(async () => {
      await app.stop()
      await pool.end()
    })
    await app.start()
    await eventually(
      async () => ((await doctor('--store', url)).some(({ check }) => check === 'clocks') ? true : undefined),
      'a beat',
    )
    expect(named(await doctor('--store', url), 'pool')).toEqual(found)
  })
})
