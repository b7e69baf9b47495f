import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type * as Ids from './uuid-v7.ts'

/** A copy of its own: the module remembers the last time it gave out. */
async function freshIds(): Promise<typeof Ids> {
  vi.resetModules()
  return await import('./uuid-v7.ts')
}

afterEach(() => vi.resetModules())

test('it is a UUID of version 7 and of the usual variant', async () => {
  const { uuidv7 } = await freshIds()
  for (let i = 0; i < 2_000; i++) {
    expect(uuidv7()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  }
})

test('its first 48 bits are the time', async () => {
  const { uuidv7, timeOfUuidV7 } = await freshIds()
  const at = Date.parse('2030-01-02T03:04:05.678Z')
  const id = uuidv7(at)
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(at)
  expect(timeOfUuidV7(id)).toEqual(new Date(at))
})

test('the time of anything else is not known', async () => {
  const { timeOfUuidV7 } = await freshIds()
  for (const id of ['', 'm1', '0188d0b0-7e7a-4b3f-8c3e-0123456789ab', '0188d0b0-7e7a-7b3f-0c3e-0123456789ab']) {
    expect(timeOfUuidV7(id)).toBeUndefined()
  }
  expect(timeOfUuidV7('0188D0B0-7E7A-7B3F-8C3E-0123456789AB')).toEqual(new Date(0x0188d0b07e7a))
})

test('within one millisecond they are strictly increasing, also past the end of the counter', async () => {
  const { uuidv7 } = await freshIds()
  const ids = Array.from({ length: 20_000 }, () => uuidv7(1_000))
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('they are strictly increasing while the clock goes on, or is put back by less than a minute', async () => {
  const { uuidv7 } = await freshIds()
  let last = uuidv7(0)
  let latest = 0
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -59_000, max: 2 ** 35 }), { minLength: 1 }), (steps) => {
      for (const step of steps) {
        const id = uuidv7(Math.max(0, latest + step))
        latest = Math.max(latest, latest + step)
        expect(id > last).toBe(true)
        last = id
      }
    }),
  )
})

test('a clock that was far ahead for a moment does not make ids of the future from then on', async () => {
  const { uuidv7, timeOfUuidV7 } = await freshIds()
  const now = Date.parse('2030-01-01T00:00:00Z')
  uuidv7(now + 400 * 86_400_000)
  const ids = Array.from({ length: 5_000 }, () => uuidv7(now))
  for (const id of ids) expect(Math.abs((timeOfUuidV7(id)?.getTime() ?? 0) - now)).toBeLessThan(60_000)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('two processes at the same moment make different ones', async () => {
  const [one, other] = [await freshIds(), await freshIds()]
  const ids = Array.from({ length: 500 }, () => [one.uuidv7(5_000), other.uuidv7(5_000)]).flat()
  expect(new Set(ids).size).toBe(ids.length)
})
