import { expect, test } from 'vitest'
import { fingerprintOf } from '../../encoding/fingerprint.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { RecentCommits } from './recent-commits.ts'

const m1 = { handler: 'tag-note', key: 'm1' }
const content = fingerprintOf({ a: 1 })

function openMemory(options = { capacity: 100, lifeMs: 60_000, trustMs: 1_000 }) {
  const clock = fakeClock()
  const recent = new RecentCommits(clock, options)
  recent.sawEpoch('1')
  return { clock, recent }
}

test('it knows what it was given, by handler and key', () => {
  const { recent } = openMemory()
  expect(recent.knows(m1, content)).toBe(false)
  recent.remember(m1, content, '1')
  expect(recent.knows(m1, content)).toBe(true)
  expect(recent.knows({ ...m1, handler: 'count-notes' }, content)).toBe(false)
  expect(recent.knows({ ...m1, key: 'm2' }, content)).toBe(false)
})

test('other content under the same key is not known: only the store may say that the key was reused', () => {
  const { recent } = openMemory()
  recent.remember(m1, content, '1')
  expect(recent.knows(m1, fingerprintOf({ a: 2 }))).toBe(false)
})

test('where contents are not compared the key is enough', () => {
  const { recent } = openMemory()
  recent.remember(m1, undefined, '1')
  expect(recent.knows(m1, undefined)).toBe(true)
})

test('it is believed only while the store has lately confirmed the epoch', async () => {
  const { recent, clock } = openMemory()
  recent.remember(m1, content, '1')
  await clock.advance(1_000)
  expect(recent.knows(m1, content)).toBe(true)
  await clock.advance(1)
  expect(recent.knows(m1, content)).toBe(false)
  recent.sawEpoch('1')
  expect(recent.knows(m1, content)).toBe(true)
})

test('what was committed too long ago is not known', async () => {
  const { recent, clock } = openMemory()
  recent.remember(m1, content, '1')
  await clock.advance(60_000)
  recent.sawEpoch('1')
  expect(recent.knows(m1, content)).toBe(true)
  await clock.advance(1)
  recent.sawEpoch('1')
  expect(recent.knows(m1, content)).toBe(false)
})

test('a changed epoch empties it, and changing back brings nothing back', () => {
  const { recent } = openMemory()
  recent.remember(m1, content, '1')
  recent.sawEpoch('2')
  expect(recent.knows(m1, content)).toBe(false)
  recent.sawEpoch('1')
  expect(recent.knows(m1, content)).toBe(false)
})

test('a commit whose claim read an older epoch is not remembered: its record may have been forgotten since', () => {
  const { recent } = openMemory()
  recent.sawEpoch('2')
  recent.remember(m1, content, '1')
  expect(recent.knows(m1, content)).toBe(false)
})

test('before any claim it knows nothing', () => {
  const recent = new RecentCommits(fakeClock())
  recent.remember(m1, content, '1')
  expect(recent.knows(m1, content)).toBe(false)
})

test('it keeps the newest, and never more than its capacity', () => {
  const { recent } = openMemory({ capacity: 10, lifeMs: 60_000, trustMs: 1_000 })
  const keys = Array.from({ length: 100 }, (_, index) => ({ handler: 'tag-note', key: `m${index}` }))
  for (const key of keys) {
    recent.remember(key, content, '1')
    expect(recent.knows(key, content)).toBe(true)
  }
  const known = keys.filter((key) => recent.knows(key, content))
  expect(known.length).toBeLessThanOrEqual(10)
  expect(known).toEqual(keys.slice(-known.length))
  expect(known.length).toBeGreaterThanOrEqual(5)
})

test('cleared, it knows nothing', () => {
  const { recent } = openMemory()
  recent.remember(m1, content, '1')
  recent.clear()
  expect(recent.knows(m1, content)).toBe(false)
})
