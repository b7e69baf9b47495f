import type pg from 'pg'
import type { ReservedSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { openJsContext } from './js-context.ts'
import { newPool, openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('a transaction that is aborted while a statement runs', () => {
  let url: string
  let admin: pg.Pool
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    admin = newPool({ url, pool: { max: 2 } })
  })
  afterAll(() => admin.end())

  const sleep = 'SELECT pg_sleep(600)'
  const clients: readonly { client: string; run(): Promise<Aborted> }[] = [
    { client: 'pg', run: async () => aborted(await openPgContext({ url }), (tx) => tx.query(sleep)) },
    {
      client: 'pg that pipelines',
      run: async () => aborted(await openPgContext({ url, pool: { pipeline: true } }), (tx) => tx.query(sleep)),
    },
    {
      client: 'postgres.js',
      run: async () => aborted(await openJsContext({ url }), async (tx) => await tx.unsafe(sleep)),
    },
  ]

  test.each(clients)('$client: ends in the server as well, and its claim is free', async ({ run }) => {
    const { error, running, claimedAgain, close } = await run()
    expect(error).toMatchObject({ message: 'enough' })
    expect(await running).toMatchObject({ message: expect.any(String) })
    expect(claimedAgain).toBe(true)
    await expect.poll(sleepers, { timeout: 10_000 }).toBe(0)
    await close()
  })

  interface Aborted {
    readonly error: unknown
    /** What the statement ended with. */
    readonly running: Promise<unknown>
    readonly claimedAgain: boolean
    close(): Promise<void>
  }

  async function aborted<Tx extends pg.PoolClient | ReservedSql>(
    { store, effects, close }: StoreCaseContext<Tx>,
    run: (tx: Tx) => Promise<unknown>,
  ): Promise<Aborted> {
    const abort = new AbortController()
    const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }
    const running = Promise.withResolvers<unknown>()
    const transaction = store.transaction(
      async (tx) => {
        await store.inbox.claim(tx, [request])
        const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
        await effects.write(loan.tx, 'm1')
        await run(loan.tx).then(running.resolve, running.resolve)
      },
      { signal: abort.signal },
    )
    transaction.catch(() => {})
    await expect.poll(sleepers, { timeout: 10_000 }).toBe(1)
    abort.abort(new Error('enough'))
    const error: unknown = await transaction.catch((reason: unknown) => reason)
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request]), { lockTimeoutMs: 20_000 })
    return { error, running: running.promise, claimedAgain: existing[0] === undefined, close }
  }

  async function sleepers(): Promise<number> {
    const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE query = $1 AND state = 'active' AND datname = current_database()`
    const { rows } = await admin.query<{ n: number }>(text, [sleep])
    return rows[0]?.n ?? -1
  }
})
