import { expect, test, vi } from 'vitest'
import type { Hot } from './hot.ts'
import { HotHints } from './hot-hints.ts'

const settings = { prefix: 'hot:', lifeMs: 60_000, timeoutMs: 10, restMs: 1_000 }
const request = (key: string, fingerprint?: Uint8Array) => ({ handler: 'tag-note', key, fingerprint })

function memoryHot(): Hot & { readonly calls: string[]; readonly names: Iterable<string> } {
  const entries = new Map<string, string>()
  const calls: string[] = []
  return {
    calls,
    get names() {
      return entries.keys()
    },
    async get(keys) {
      calls.push('get')
      return keys.map((key) => entries.get(key))
    },
    async set(more) {
      calls.push('set')
      for (const [key, value] of more) entries.set(key, value)
    },
  }
}

test('it knows what was committed, by handler, key, content and epoch', async () => {
  const hints = new HotHints(memoryHot(), settings)
  hints.committed([request('m1', Uint8Array.of(1)), request('m2')], 'e1')
  const asked = [
    request('m1', Uint8Array.of(1)),
    request('m1', Uint8Array.of(2)),
    request('m1'),
    request('m2'),
    { ...request('m2'), handler: 'another' },
  ]
  expect(await hints.known(asked, 'e1')).toEqual([true, false, false, true, false])
  expect(await hints.known(asked, 'e2')).toEqual([false, false, false, false, false])
})

test('an answer to another question is not believed, not even where both messages say the same', async () => {
  const hot = memoryHot()
  const hints = new HotHints(hot, settings)
  hints.committed([request('m1'), request('m2', Uint8Array.of(1))], 'e1')
  const answered = await hot.get([...hot.names])
  vi.spyOn(hot, 'get').mockResolvedValueOnce(answered)
  expect(await hints.known([request('m3'), request('m4', Uint8Array.of(1))], 'e1')).toEqual([false, false])
})

test('an error means not known, and then it is left alone for a while', async () => {
  const hot = memoryHot()
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const hints = new HotHints(hot, settings)
  hints.committed([request('m1')], 'e1')
  const failing = vi.spyOn(hot, 'get').mockRejectedValueOnce(new Error('gone'))
  expect(await hints.known([request('m1')], 'e1')).toEqual([false])
  now.mockReturnValue(999)
  expect(await hints.known([request('m1')], 'e1')).toEqual([false])
  expect(failing).toHaveBeenCalledTimes(1)
  now.mockReturnValue(1_001)
  expect(await hints.known([request('m1')], 'e1')).toEqual([true])
  now.mockRestore()
})

test('a hot side that throws at once is ignored like any other', async () => {
  const hot = memoryHot()
  vi.spyOn(hot, 'set').mockImplementation(() => {
    throw new Error('closed')
  })
  const hints = new HotHints(hot, settings)
  hints.committed([request('m1')], 'e1')
  expect(await hints.known([request('m1')], 'e1')).toEqual([false])
})

test('a hanging call stops nobody, and nothing more is sent until it has ended', async () => {
  const hot = memoryHot()
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const hanging = Promise.withResolvers<undefined[]>()
  const get = vi.spyOn(hot, 'get').mockReturnValueOnce(hanging.promise)
  const hints = new HotHints(hot, settings)
  expect(await hints.known([request('m1')], 'e1')).toEqual([false])
  now.mockReturnValue(10_000)
  hints.committed([request('m1')], 'e1')
  expect(await hints.known([request('m1')], 'e1')).toEqual([false])
  expect([get.mock.calls.length, hot.calls]).toEqual([1, []])
  hanging.resolve([undefined])
  await hanging.promise
  hints.committed([request('m1')], 'e1')
  expect(await hints.known([request('m1')], 'e1')).toEqual([true])
  now.mockRestore()
})
