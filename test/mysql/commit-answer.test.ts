import type { PoolConnection } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { openMysqlContext } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!mariadb.available)('mysql2: a commit whose answer is lost', () => {
  let proxy: FaultProxy
  let context: StoreCaseContext<PoolConnection>
  beforeEach(async () => {
    const { url } = mariadb as { url: string }
    const { hostname, port } = new URL(url)
    proxy = await startProxy(hostname, Number(port))
    context = await openMysqlContext({ url: proxy.url(url) })
  })
  afterEach(async () => {
    await context.close()
    await proxy.stop()
  })

  test.each([
    { when: 'before', truth: 'undone' },
    { when: 'after-forward', truth: 'committed' },
  ] as const)('is COMMIT_UNKNOWN, and the next claim finds that it was $truth', async ({ when, truth }) => {
    const { store, effects } = context
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      await effects.write(tx, 'm1')
      void proxy.cutWhenClientSends('COMMIT', when)
    })
    const error: unknown = await work.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(store.classify(error)).toBe('unavailable')
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request]))
    expect(existing[0]?.state).toBe(truth === 'committed' ? 'processed' : undefined)
    expect(await effects.count('m1')).toBe(truth === 'committed' ? 1 : 0)
  })

  test('is COMMIT_UNKNOWN as well when the signal is aborted while nothing comes back', async () => {
    const { store, effects } = context
    const abort = new AbortController()
    const work = store.transaction(
      async (tx) => {
        await store.inbox.claim(tx, [request])
        await effects.write(tx, 'm1')
        void proxy.cutWhenClientSends('COMMIT', 'after-forward', { answer: 'nothing that a server says' })
      },
      { signal: abort.signal },
    )
    const end = work.catch((reason: unknown) => reason)
    await eventually(async () => ((await effects.count('m1')) === 1 ? true : undefined), 'the commit')
    abort.abort(new Error('its time is up'))
    const error = await end
    expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect((await store.transaction((tx) => store.inbox.claim(tx, [request]))).existing[0]?.state).toBe('processed')
  })

  test('a connection that is lost before the commit is not COMMIT_UNKNOWN', async () => {
    const { store, effects } = context
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request])
      proxy.cutAll()
      await effects.write(tx, 'm1')
    })
    const error: unknown = await work.catch((reason: unknown) => reason)
    expect(error).not.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(store.classify(error)).toBe('unavailable')
    expect((await store.transaction((tx) => store.inbox.claim(tx, [request]))).existing).toEqual([undefined])
  })
})
