import type pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { storeCases } from '../../src/testing/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { bindStoreCases } from '../conformance/bind-store-cases.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool, openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')
const cases = storeCases.filter(({ name }) => /^(?:claim|locks|transaction|misuse|abort|parts|loan|within)/.test(name))

describe.skipIf(!postgres.available)('clients that are set up in another way', () => {
  let url: string
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  // These cannot take several statements in one flight, as pg-native cannot.
  bindStoreCases('postgres with pg that pipelines', {
    cases,
    open: () => openPgContext({ url, pool: { pipeline: true } }),
  })

  test('what the user does to parsers and output formats changes nothing', async () => {
    const types = { getTypeParser: () => () => 'parsed by the user' } as unknown as pg.CustomTypesConfig
    const options = '-c bytea_output=escape -c datestyle=SQL,DMY -c timezone=Asia/Kathmandu -c extra_float_digits=0'
    const pool = newPool({ url, pool: { types, options } })
    onTestFinished(() => pool.end())
    const store = postgresStore({ pool, prefix: 'formats_' })
    await store.schema.install()
    const request = { handler: 'tag-note', key: 'm1', fingerprint: Uint8Array.of(0, 92, 255) }
    await store.transaction((tx) => store.inbox.claim(tx, [request]))
    const record = await recordOf(store, request)
    expect([...(record?.fingerprint ?? [])]).toEqual([0, 92, 255])
    expect(Math.abs((record?.processedAt.getTime() ?? 0) - Date.now())).toBeLessThan(1_800_000)
    const message = { envelope: Uint8Array.of(0, 1), body: Uint8Array.of(92, 255) }
    await store.queue.send(undefined, 'notes', [{ message, key: undefined }])
    const [taken] = await store.queue.take('notes', { limit: 1, visibilityMs: 1_000 })
    expect([...(taken?.message.body ?? [])]).toEqual([92, 255])
  })

  test('a client that wants binary answers gets records, results and messages as they are', async () => {
    const pool = newPool({ url, pool: { binary: true } as pg.PoolConfig })
    onTestFinished(() => pool.end())
    const store = postgresStore({ pool, prefix: 'binary_' })
    await store.schema.install()
    const request = { handler: 'tag-note', key: 'm1', fingerprint: Uint8Array.of(0, 92, 255) }
    const claim = () => store.transaction((tx) => store.inbox.claim(tx, [request]))
    expect((await claim()).existing).toEqual([undefined])
    expect((await claim()).existing).toMatchObject([{ state: 'processed' }])
    const record = await recordOf(store, request)
    expect([...(record?.fingerprint ?? [])]).toEqual([0, 92, 255])
    expect(Math.abs((record?.processedAt.getTime() ?? 0) - Date.now())).toBeLessThan(1_800_000)
  })

  test('two stores with tables of their own share one pool', async () => {
    const pool = newPool({ url, pool: { max: 2 } })
    onTestFinished(() => pool.end())
    const stores = ['a_', 'b_'].map((prefix) => postgresStore({ pool, prefix, listen: false }))
    const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }
    for (const store of stores) {
      await store.schema.install()
      const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request]))
      expect(existing).toEqual([undefined])
    }
    await stores[0]?.transaction(async (tx) => stores[0]?.inbox.forget(tx, [request]))
    expect(await recordOf(stores[0]!, request)).toBeUndefined()
    expect(await recordOf(stores[1]!, request)).toMatchObject({ state: 'processed' })
  })
})
