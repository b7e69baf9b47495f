import { expect, test } from 'vitest'
import type { StoredParkedMessage } from '../contracts/index.ts'
import { Reservation } from '../engine/retries/reservation.ts'
import { RetryChunks } from './retry-chunks.ts'

const reserved = (key: string, changes: Partial<StoredParkedMessage> = {}) =>
  new Reservation({ key, handler: 'tag-note', begun: 0, revision: 1, ...changes } as StoredParkedMessage)

const several = (count: number) => Array.from({ length: count }, (_, index) => reserved(`m${index}`))

const sizes = (chunks: ReturnType<RetryChunks['split']>) => chunks.map(({ reservations }) => reservations.length)

test('each is tried by itself while they are few, however quick they are', () => {
  const chunks = new RetryChunks()
  for (const chunk of chunks.split(several(3), false)) chunks.learn(chunk, 1)
  expect(sizes(chunks.split(several(3), false))).toEqual([1, 1, 1])
})

test('where they are many, more and more are tried together while that is quick, and each by itself after a slow one', () => {
  const chunks = new RetryChunks()
  const next = (tookMs: number) => {
    const [first] = chunks.split(several(40), true)
    if (first !== undefined) chunks.learn(first, tookMs)
    return first?.reservations.length
  }
  expect([next(1), next(1), next(1), next(1), next(1), next(1)]).toEqual([1, 2, 4, 8, 16, 20])
  expect([next(5_000), next(1)]).toEqual([20, 1])
})

test('a suspect is always by itself, and so is the head of an order key, whose followers are looked up', () => {
  const chunks = new RetryChunks()
  for (let turn = 0; turn < 5; turn++) for (const chunk of chunks.split(several(40), true)) chunks.learn(chunk, 1)
  const given = [reserved('m1'), reserved('killer', { begun: 1 }), reserved('a1', { orderKey: 'a' }), reserved('m2')]
  expect(chunks.split(given, true).map(({ kind, reservations }) => [kind, reservations.length])).toEqual([
    ['few', 2],
    ['suspect', 1],
    ['ordered', 1],
  ])
})

test('messages of different handlers are tried apart', () => {
  const chunks = new RetryChunks()
  for (let turn = 0; turn < 5; turn++) for (const chunk of chunks.split(several(40), true)) chunks.learn(chunk, 1)
  const given = [reserved('m1'), reserved('n1', { handler: 'other' }), reserved('m2')]
  expect(sizes(chunks.split(given, true))).toEqual([2, 1])
})
