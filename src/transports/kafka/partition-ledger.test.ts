import { expect, test } from 'vitest'
import type { FetchedRecord } from './committed-records.ts'
import { PartitionLedger, type Slot } from './partition-ledger.ts'

const record = { timestampDelta: 0n, offsetDelta: 0, key: null, value: null, headers: [] }
const fetched = (...offsets: number[]): FetchedRecord[] =>
  offsets.map((offset) => ({ offset: BigInt(offset), timestampMs: 0, epoch: 0, record }))
const open = (suspects = 0) =>
  new PartitionLedger({ topic: 'notes', partition: 3, topicId: 'id', position: 10n, suspects })
const offsetsOf = (slots: readonly Slot[]) => slots.map((slot) => Number(slot.fetched?.offset))

test('only a prefix without gaps counts as settled', () => {
  const ledger = open()
  ledger.add(fetched(10, 11, 12), 13n)
  const [first, second, third] = ledger.take(3)
  ledger.done(third!)
  ledger.done(second!)
  expect(ledger.settledUpTo).toBe(10n)
  ledger.done(first!)
  expect(ledger.settledUpTo).toBe(13n)
})

test('gaps and markers behind the last record are passed with it, and those before others are not jumped', () => {
  const ledger = open()
  ledger.add(fetched(10, 14), 20n)
  const [first, second] = ledger.take(2)
  expect([first?.next, second?.next]).toEqual([11n, 20n])
  ledger.done(first!)
  expect(ledger.settledUpTo).toBe(11n)
  ledger.done(second!)
  expect(ledger.settledUpTo).toBe(20n)
})

test('an answer with markers only moves the position, but not past what is unsettled', () => {
  const ledger = open()
  ledger.add(fetched(10), 11n)
  const [only] = ledger.take(1)
  ledger.add([], 15n)
  expect([ledger.position, ledger.settledUpTo]).toEqual([15n, 10n])
  ledger.done(only!)
  expect(ledger.settledUpTo).toBe(15n)
})

test('what is given back comes again before what follows', () => {
  const ledger = open()
  ledger.add(fetched(10, 11, 12), 13n)
  const [first] = ledger.take(2)
  ledger.giveBack(first!)
  expect([ledger.waiting, ledger.out, ledger.spread]).toEqual([2, 1, 1])
  expect(offsetsOf(ledger.take(5))).toEqual([10, 12])
})

test('the first records are suspects, and later ones are not', () => {
  const ledger = open(2)
  ledger.add(fetched(10), 11n)
  ledger.add(fetched(11, 12), 13n)
  expect(ledger.take(3).map(({ suspect }) => suspect)).toEqual([true, true, false])
})

test('what was given back of a key comes again only after those before it', () => {
  const ledger = open()
  const keyed = (offset: number, key: string): FetchedRecord => ({
    offset: BigInt(offset),
    timestampMs: 0,
    epoch: 0,
    record: { ...record, key: Buffer.from(key), value: Buffer.alloc(10) },
  })
  ledger.add([keyed(10, 'a'), keyed(11, 'a'), keyed(12, 'a'), keyed(13, 'b')], 14n)
  const [first, second, third] = ledger.take(3)
  ledger.giveBack(second!)
  ledger.giveBack(third!)
  expect(offsetsOf(ledger.take(9))).toEqual([13])
  ledger.done(first!)
  expect(offsetsOf(ledger.take(9))).toEqual([11, 12])
})

test('all of a record counts as in memory until it is settled: its key and its headers, too', () => {
  const ledger = open()
  const headers = [[Buffer.alloc(3), Buffer.alloc(50)] as const, [Buffer.alloc(2), null] as const]
  const sized = { ...record, key: Buffer.alloc(7), value: Buffer.alloc(10), headers }
  ledger.add([{ offset: 10n, timestampMs: 0, epoch: 0, record: sized }, ...fetched(11)], 12n)
  expect(ledger.bytes).toBe(7 + 10 + 3 + 50 + 2)
  const [first] = ledger.take(2)
  ledger.done(first!)
  expect(ledger.bytes).toBe(0)
})

test('the holder of something of a partition learns that it is no longer ours', () => {
  const ledger = open()
  expect(ledger.ended.aborted).toBe(false)
  ledger.end()
  expect([ledger.ended.aborted, ledger.isOurs]).toEqual([true, false])
})
