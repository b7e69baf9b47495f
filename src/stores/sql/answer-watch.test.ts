import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AnswerWatch } from './answer-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function asker(watch: AnswerWatch, lockWaitMs = 0) {
  const given: Error[] = []
  const each = {
    askedAt: undefined as number | undefined,
    lockWaitMs,
    giveUp: (error: Error) => void given.push(error),
    ask() {
      each.askedAt = watch.tick
    },
  }
  watch.add(each)
  return { each, given }
}

test('a statement without an answer is given up after the limit, and not before', () => {
  const watch = new AnswerWatch(8_000)
  const { each, given } = asker(watch)
  each.ask()
  vi.advanceTimersByTime(8_000)
  expect(given).toEqual([])
  vi.advanceTimersByTime(1_000)
  expect(given).toMatchObject([{ code: 'ETIMEDOUT', message: expect.stringContaining('8000 ms') }])
  vi.advanceTimersByTime(60_000)
  expect(given).toHaveLength(1)
})

test('a connection that has nothing to ask is left alone, and so is one that is answered again and again', () => {
  const watch = new AnswerWatch(8_000)
  const [idle, busy] = [asker(watch), asker(watch)]
  for (let turn = 0; turn < 20; turn++) {
    busy.each.ask()
    vi.advanceTimersByTime(7_000)
  }
  expect([...idle.given, ...busy.given]).toEqual([])
})

test('the wait for a lock is not the silence of the server', () => {
  const watch = new AnswerWatch(8_000)
  const { each, given } = asker(watch, 20_000)
  each.ask()
  vi.advanceTimersByTime(28_000)
  expect(given).toEqual([])
  vi.advanceTimersByTime(2_000)
  expect(given).toHaveLength(1)
})

test('an answer that arrives slowly is not silence, until nothing more arrives', () => {
  const watch = new AnswerWatch(8_000)
  const { each, given } = asker(watch)
  let bytes = 5
  Object.assign(each, { heardBytes: () => bytes })
  each.ask()
  for (let turn = 0; turn < 10; turn++) {
    vi.advanceTimersByTime(7_000)
    bytes++
  }
  vi.advanceTimersByTime(8_000)
  expect(given).toEqual([])
  vi.advanceTimersByTime(2_000)
  expect(given).toHaveLength(1)
})

test('what is large may take longer to be sent', () => {
  const watch = new AnswerWatch(8_000)
  const { each, given } = asker(watch)
  each.ask()
  Object.assign(each, { askedBytes: 640_000 })
  vi.advanceTimersByTime(18_000)
  expect(given).toEqual([])
  vi.advanceTimersByTime(2_000)
  expect(given).toHaveLength(1)
})

test('where nobody waits there is no timer', () => {
  const watch = new AnswerWatch(8_000)
  const { each } = asker(watch)
  watch.delete(each)
  vi.advanceTimersByTime(1_000)
  expect(vi.getTimerCount()).toBe(0)
  asker(watch)
  expect(vi.getTimerCount()).toBe(1)
})

test('a single statement rejects when it is given up, and what it answers later is nobody’s', async () => {
  const watch = new AnswerWatch(8_000)
  const { promise, resolve } = Promise.withResolvers<string>()
  let ended = 0
  const waiting = watch.until(promise, () => ended++)
  const refused = expect(waiting).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  vi.advanceTimersByTime(9_000)
  resolve('late')
  await refused
  expect(ended).toBe(1)
  expect(await watch.until(Promise.resolve('in time'), () => ended++)).toBe('in time')
})
