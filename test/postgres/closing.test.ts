import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newSql } from './js-context.ts'
import { newPool } from './pg-context.ts'

const postgres = await requireServer('postgres')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!postgres.available)('a client that is used up', () => {
  let url: string
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  /** A store, and how its user ends the client under it. */
  const clients = [
    {
      client: 'pg',
      open: (max: number) => {
        const pool = newPool({ url, pool: { max } })
        return { store: postgresStore({ pool, listen: false }), end: () => pool.end() }
      },
    },
    {
      client: 'postgres.js',
      open: (max: number) => {
        const sql = newSql({ url, client: { max } })
        return { store: postgresStore({ sql, listen: false }), end: () => sql.end({ timeout: 1 }) }
      },
    },
  ] as const

  test.each(clients)('$client: after its end everything is STORE_CLOSED', async ({ client, open }) => {
    const { store, end } = open(2)
    await store.schema.install()
    await end()
    const uses = [
      // postgres.js goes on reserving connections after its end, and makes new ones for it.
      ...(client === 'pg' ? [() => store.transaction(async () => 'never')] : []),
      () => recordOf(store, request),
      () => store.queue.take('notes', { limit: 1, visibilityMs: 1 }),
      () => store.schema.check(),
      () => store.ping(),
    ]
    for (const use of uses) {
      const error: unknown = await use().catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'STORE_CLOSED' })
      expect(store.classify(error)).toBe('unavailable')
    }
  })

  test.each(clients)('$client: after close() the store is closed and the client is not', async ({ open }) => {
    const { store, end } = open(2)
    onTestFinished(end)
    await store.schema.install()
    await store.close()
    await expect(store.transaction(async () => 'never')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(recordOf(store, request)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  test.each(clients)('$client: a caller that gives up waiting for it takes no connection along', async ({ open }) => {
    const { store, end } = open(1)
    onTestFinished(end)
    await store.schema.install()
    const holding = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const holder = store.transaction(async () => {
      holding.resolve()
      await goOn.promise
    })
    await holding.promise
    const abort = new AbortController()
    const aborted = store.transaction(async () => 'never', { signal: abort.signal })
    await expect(store.transaction(async () => 'never', { giveUpAfterMs: 30 })).rejects.toMatchObject({
      code: 'STORE_BUSY',
    })
    abort.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    goOn.resolve()
    await holder
    expect(await store.transaction(async () => 'works')).toBe('works')
  })

  test.each(clients)('$client: a server that cannot be reached is unavailable', async ({ client }) => {
    const nowhere = 'postgresql://postgres@127.0.0.1:1/none'
    const pool = newPool({ url: nowhere })
    const sql = newSql({ url: nowhere, client: { max: 1, connect_timeout: 1 } })
    onTestFinished(async () => {
      await pool.end()
      await sql.end({ timeout: 0 })
    })
    const store = client === 'pg' ? postgresStore({ pool }) : postgresStore({ sql })
    for (const use of [() => store.transaction(async () => 'never'), () => store.ping()]) {
      const error: unknown = await use().catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'ECONNREFUSED' })
      expect(store.classify(error)).toBe('unavailable')
    }
  })
})
