import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'

const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

/** What a store that is reached over a network says when it does not hear whether its commit has worked. */
export function lostCommitAnswers<Tx>(
  url: () => string,
  open: (url: string) => Promise<StoreCaseContext<Tx>>,
  { answer }: { answer?: string } = {},
): void {
  let proxy: FaultProxy
  let context: StoreCaseContext<Tx>
  beforeEach(async () => {
    const { hostname, port } = new URL(url())
    proxy = await startProxy(hostname, Number(port))
    context = await open(proxy.url(url()))
  })
  afterEach(async () => {
    await context.close()
    await proxy.stop()
  })

  const work = (meanwhile: () => void, signal?: AbortSignal): Promise<unknown> => {
    const { store, effects } = context
    const transaction = store.transaction(async (tx, lastWrites) => {
      await store.inbox.claim(tx, [request])
      await effects.write(tx, 'm1')
      meanwhile()
      if (lastWrites === undefined) return
      lastWrites((error) => new Error('blamed on a write', { cause: error }))
      await store.inbox.update(tx, [{ ...request, state: 'processed', result: '7', claimed: true }])
    }, signal && { signal })
    return transaction.catch((reason: unknown) => reason)
  }

  const recorded = async (key: string) => {
    const { store } = context
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [{ ...request, key }]))
    return existing[0]?.state
  }

  test.each([
    { when: 'before', truth: 'undone' },
    { when: 'after-forward', truth: 'committed' },
  ] as const)('is COMMIT_UNKNOWN, and the next claim finds that it was $truth', async ({ when, truth }) => {
    const { store, rival, effects } = context
    const error = await work(
      () => void proxy.cutWhenClientSends('COMMIT', when, answer === undefined ? {} : { answer }),
    )
    expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(store.classify(error)).toBe('unavailable')
    await rival.transaction((tx) => rival.inbox.claim(tx, [{ ...request, key: 'other' }]))
    expect(await recorded('other')).toBe('processed')
    expect(await recorded('m1')).toBe(truth === 'committed' ? 'processed' : undefined)
    expect(await effects.count('m1')).toBe(truth === 'committed' ? 1 : 0)
  })

  test('is COMMIT_UNKNOWN as well when the signal is aborted while nothing comes back', async () => {
    const { effects } = context
    const abort = new AbortController()
    const never = { answer: 'nothing that a server says' }
    const end = work(() => void proxy.cutWhenClientSends('COMMIT', 'after-forward', never), abort.signal)
    await eventually(async () => ((await effects.count('m1')) === 1 ? true : undefined), 'the commit')
    abort.abort(new Error('its time is up'))
    expect(await end).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(await recorded('m1')).toBe('processed')
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
    expect(await recorded('m1')).toBeUndefined()
  })
}
