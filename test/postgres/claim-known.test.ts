import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClaimRequest } from '../../src/driver.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool } from './pg-context.ts'

const postgres = await requireServer('postgres')

const request = (key: string): ClaimRequest => ({ handler: 'h', key, fingerprint: new Uint8Array([1, 2, 3]) })

/** After claims that were mostly known the store looks before it claims: then it must come to the same answers. */
describe.skipIf(!postgres.available)('claims after a claim of which most was known', () => {
  let pool: pg.Pool
  let store: PostgresStore<pg.PoolClient>
  beforeAll(async () => {
    pool = newPool({ url: await createDatabase(postgres.url) })
    store = postgresStore({ pool })
    await store.schema.install()
  })
  afterAll(() => pool.end())

  const claim = (...keys: string[]) =>
    store.transaction(async (tx) => {
      const { existing } = await store.inbox.claim(tx, keys.map(request))
      return existing.map((record) => (record === undefined ? 'ours' : record.state))
    })

  async function claimKnown(): Promise<void> {
    await claim('known-1', 'known-2')
    expect(await claim('known-1', 'known-2')).toEqual(['processed', 'processed'])
  }

  test('what is known is found, and what is new is claimed, each in its place', async () => {
    await claimKnown()
    expect(await claim('known-1', 'new-1', 'known-2', 'new-2')).toEqual(['processed', 'ours', 'processed', 'ours'])
    await claimKnown()
    expect(await claim('new-1', 'new-2', 'new-3')).toEqual(['processed', 'processed', 'ours'])
  })

  test('the record is returned with its fingerprint and its result', async () => {
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('with-result')])
      await store.inbox.update(tx, [{ handler: 'h', key: 'with-result', state: 'processed', result: '{"a":1}' }])
    })
    await claimKnown()
    const [record] = await store.transaction(async (tx) => {
      return (await store.inbox.claim(tx, [request('with-result'), request('known-1')])).existing
    })
    expect([...(record?.fingerprint ?? [])]).toEqual([1, 2, 3])
    expect(record?.result).toBe('{"a":1}')
    expect(record?.processedAt).toEqual((await recordOf(store, request('with-result')))?.processedAt)
  })

  test('of two racing transactions one is first and the other finds its record', async () => {
    await claimKnown()
    const claims = await Promise.all([claim('raced', 'known-1'), claim('raced', 'known-2')])
    expect(claims.map(([raced]) => raced).sort()).toEqual(['ours', 'processed'])
  })

  test('a claim that a rival gives up is made after all', async () => {
    await claimKnown()
    const given = Promise.withResolvers<void>()
    const claimed = Promise.withResolvers<void>()
    const rival = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('given-up')])
      claimed.resolve()
      await given.promise
      throw new Error('the rival fails')
    })
    await claimed.promise
    await claimKnown()
    const ours = claim('given-up', 'known-1')
    given.resolve()
    await expect(rival).rejects.toThrow('the rival fails')
    expect(await ours).toEqual(['ours', 'processed'])
  })
})
