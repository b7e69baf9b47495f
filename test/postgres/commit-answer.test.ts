import type pg from 'pg'
import type { ReservedSql } from 'postgres'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { type CutMoment, type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { openJsContext } from './js-context.ts'
import { openPgContext } from './pg-context.ts'

const postgres = await requireServer('postgres')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

type Context = StoreCaseContext<pg.PoolClient> | StoreCaseContext<ReservedSql>

const clients: readonly { client: string; open(url: string): Promise<Context> }[] = [
  { client: 'pg', open: (url) => openPgContext({ url, listen: false }) },
  { client: 'pg that pipelines', open: (url) => openPgContext({ url, listen: false, pool: { pipeline: true } }) },
  { client: 'pg without prepared statements', open: (url) => openPgContext({ url, listen: false, prepare: false }) },
  { client: 'postgres.js', open: (url) => openJsContext({ url, listen: false }) },
]

describe.skipIf(!postgres.available).each(clients)('$client: a commit whose answer is lost', ({ open }) => {
  let url: string
  let proxy: FaultProxy
  let context: StoreCaseContext<unknown>
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })
  beforeEach(async () => {
    const { hostname, port } = new URL(url)
    proxy = await startProxy(hostname, Number(port))
    context = (await open(proxy.url(url))) as StoreCaseContext<unknown>
  })
  afterEach(async () => {
    await context.close()
    await proxy.stop()
  })

  test.each([
    { when: 'before', truth: 'undone' },
    { when: 'after-forward', truth: 'committed' },
  ] as const)('is COMMIT_UNKNOWN, and the next claim finds that it was $truth', async ({ when, truth }) => {
    const { store, rival, effects } = context
    const [end] = await Promise.allSettled([committedThroughCut(when)])
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'COMMIT_UNKNOWN' } })
    expect(store.classify((end as PromiseRejectedResult).reason)).toBe('unavailable')

    for (const each of [store, rival]) {
      const { existing } = await each.transaction((tx) => each.inbox.claim(tx, [{ ...request, key: 'other' }]))
      expect(existing).toHaveLength(1)
    }
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request]))
    expect(existing[0]?.state).toBe(truth === 'committed' ? 'processed' : undefined)
    expect(await effects.count('m1')).toBe(truth === 'committed' ? 1 : 0)
  })

  test('is COMMIT_UNKNOWN as well when the signal is aborted while nothing comes back', async () => {
    const { store, effects } = context
    const abort = new AbortController()
    const transaction = store.transaction(
      async (tx) => {
        await store.inbox.claim(tx, [request])
        await effects.write(tx, 'm1')
        proxy.pause()
        setTimeout(() => abort.abort(), 100)
      },
      { signal: abort.signal },
    )
    await expect(transaction).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    proxy.resume()
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request]))
    expect(await effects.count('m1')).toBe(existing[0] === undefined ? 0 : 1)
  })

  test('a connection that is lost before the commit is not COMMIT_UNKNOWN', async () => {
    const { store, effects } = context
    const transaction = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      proxy.cutAll()
      await effects.write(tx, 'm1')
    })
    const error: unknown = await transaction.catch((reason: unknown) => reason)
    expect(error).not.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(store.classify(error)).toBe('unavailable')
    expect((await store.transaction((tx) => store.inbox.claim(tx, [request]))).existing).toEqual([undefined])
  })

  async function committedThroughCut(when: CutMoment): Promise<void> {
    const { store, effects } = context
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      await effects.write(tx, 'm1')
      void proxy.cutWhenClientSends(/COMMIT/, when, { answer: 'COMMIT' })
    })
  }
})
