import { expect, test } from 'vitest'
import type { KafkaMetadata } from './client-shapes.ts'
import { shareOut } from './share-out.ts'

function metadata(counts: Readonly<Record<string, number>>): KafkaMetadata {
  const topic = (count: number) => ({ id: 'id', partitions: Array.from({ length: count }, () => ({ leader: 1 })) })
  return { topics: new Map(Object.entries(counts).map(([name, count]) => [name, topic(count)])) }
}

function shared(readers: Readonly<Record<string, readonly string[]>>, counts: Readonly<Record<string, number>>) {
  const members = new Map(Object.entries(readers).map(([id, topics]) => [id, { topics }]))
  return Object.fromEntries(
    shareOut('m1', members, undefined, metadata(counts)).map(({ memberId, assignments }) => [
      memberId,
      [...assignments.values()].flatMap(({ topic, partitions }) => partitions.map((each) => `${topic}${each}`)),
    ]),
  )
}

test('members that read the same get as many each', () => {
  expect(shared({ m1: ['a', 'b'], m2: ['a', 'b'] }, { b: 2, a: 3 })).toEqual({
    m1: ['a0', 'a2', 'b1'],
    m2: ['a1', 'b0'],
  })
})

test('nobody gets what he does not read, and others make up for it', () => {
  expect(shared({ m1: ['b'], m2: ['a', 'b'], m3: ['a'] }, { a: 2, b: 2 })).toEqual({
    m1: ['b0', 'b1'],
    m2: ['a0'],
    m3: ['a1'],
  })
})

test('there may be fewer partitions than members, and topics without a reader', () => {
  expect(shared({ m1: ['a'], m2: ['a'] }, { a: 1, c: 2 })).toEqual({ m1: ['a0'], m2: [] })
})
