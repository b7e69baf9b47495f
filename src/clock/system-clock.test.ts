import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from './system-clock.ts'

const run = promisify(execFile)
const clockFile = new URL('./system-clock.ts', import.meta.url).href

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('an aborted sleep resolves and leaves no timer behind', async () => {
  const stop = new AbortController()
  const slept = systemClock.sleep(60_000, stop.signal)
  expect(vi.getTimerCount()).toBe(1)
  stop.abort()
  await slept
  expect(vi.getTimerCount()).toBe(0)
})

test('a sleep whose signal is aborted already does not begin', async () => {
  await systemClock.sleep(60_000, AbortSignal.abort())
  expect(vi.getTimerCount()).toBe(0)
})

test('a sleep resolves after its time', async () => {
  const slept = systemClock.sleep(60_000).then(() => 'slept')
  vi.advanceTimersByTime(60_000)
  expect(await slept).toBe('slept')
})

test('a delay that setTimeout cannot hold is not cut short', () => {
  const fired = vi.fn()
  const sixtyDaysMs = 60 * 24 * 3_600_000
  systemClock.timer(sixtyDaysMs, fired)
  vi.advanceTimersByTime(sixtyDaysMs - 1)
  expect(fired).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(fired).toHaveBeenCalledOnce()
})

test('a cancelled timer never fires', () => {
  const fired = vi.fn()
  systemClock.timer(10, fired).cancel()
  vi.advanceTimersByTime(100)
  expect(fired).not.toHaveBeenCalled()
})

test('a timer lets the process end, a sleep does not', async () => {
  const script = `
    import { systemClock } from ${JSON.stringify(clockFile)}
    systemClock.timer(600_000, () => console.log('timer'))
    if (process.argv[1] === 'sleep') systemClock.sleep(10).then(() => console.log('slept'))
  `
  const node = (...args: string[]) => run(process.execPath, ['--input-type=module-typescript', '-e', script, ...args])
  expect((await node()).stdout).toBe('')
  expect((await node('sleep')).stdout).toBe('slept\n')
})
