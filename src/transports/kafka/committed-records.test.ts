import { expect, test } from 'vitest'
import type { FetchedPartition, RecordsBatch } from './client-shapes.ts'
import { committedRecords } from './committed-records.ts'

const transactional = 1 << 4
const control = 1 << 5
const rollback = Buffer.from([0, 0, 0, 0])
const commit = Buffer.from([0, 0, 0, 1])

function batch(firstOffset: number, count: number, changes: Partial<RecordsBatch> = {}): RecordsBatch {
  const records = Array.from({ length: count }, (_, offsetDelta) => ({
    timestampDelta: BigInt(offsetDelta),
    offsetDelta,
    key: null,
    value: null,
    headers: [],
  }))
  return {
    firstOffset: BigInt(firstOffset),
    lastOffsetDelta: count - 1,
    partitionLeaderEpoch: 0,
    attributes: 0,
    firstTimestamp: 1_000n,
    maxTimestamp: 1_000n,
    producerId: -1n,
    records,
    ...changes,
  }
}

function marker(offset: number, producerId: bigint, key: Buffer): RecordsBatch {
  const [record] = batch(offset, 1).records
  return batch(offset, 1, { attributes: transactional | control, producerId, records: [{ ...record!, key }] })
}

function read(records: RecordsBatch[], from: number, aborted: [producer: bigint, first: number][] = []) {
  const abortedTransactions = aborted.map(([producerId, first]) => ({ producerId, firstOffset: BigInt(first) }))
  const fetched: FetchedPartition = { partitionIndex: 0, errorCode: 0, abortedTransactions, records }
  const { records: found, next } = committedRecords(fetched, BigInt(from))
  return { offsets: found.map(({ offset }) => Number(offset)), next: Number(next) }
}

test('a batch that begins before the position gives only what follows it', () => {
  expect(read([batch(10, 5)], 13)).toEqual({ offsets: [13, 14], next: 15 })
})

test('an empty answer leaves the position where it is', () => {
  expect(read([], 7)).toEqual({ offsets: [], next: 7 })
})

test('a batch whose last records were compacted away is passed as a whole', () => {
  expect(read([batch(0, 2, { lastOffsetDelta: 9 })], 0)).toEqual({ offsets: [0, 1], next: 10 })
})

test('what was rolled back is left out, and the marker is passed', () => {
  const records = [batch(0, 2, { attributes: transactional, producerId: 5n }), marker(2, 5n, rollback), batch(3, 1)]
  expect(read(records, 0, [[5n, 0]])).toEqual({ offsets: [3], next: 4 })
})

test('what was rolled back is left out although its marker has not come yet', () => {
  const records = [batch(0, 2, { attributes: transactional, producerId: 5n })]
  expect(read(records, 0, [[5n, 0]])).toEqual({ offsets: [], next: 2 })
})

test('the same producer is heard again after its rollback, and not in the next one', () => {
  const own = { attributes: transactional, producerId: 5n }
  const records = [
    batch(0, 1, own),
    marker(1, 5n, rollback),
    batch(2, 1, own),
    marker(3, 5n, commit),
    batch(4, 1, own),
    marker(5, 5n, rollback),
  ]
  expect(
    read(records, 0, [
      [5n, 0],
      [5n, 4],
    ]),
  ).toEqual({ offsets: [2], next: 6 })
})

test('times are those of the records', () => {
  const { records } = committedRecords(
    { partitionIndex: 0, errorCode: 0, abortedTransactions: null, records: [batch(0, 2)] },
    0n,
  )
  expect(records.map(({ timestampMs }) => timestampMs)).toEqual([1_000, 1_001])
})
