import type { FetchedPartition, KafkaRecord, RecordsBatch } from './client-shapes.ts'

export interface FetchedRecord {
  readonly offset: bigint
  readonly timestampMs: number
  /** Of the leader that appended it. */
  readonly epoch: number
  readonly record: KafkaRecord
}

/** Unknown, or of a format that has none. */
export const noEpoch = -1

/** The broker's time of appending the batch (`LogAppendTime`) applies to all records, instead of their own times. */
const isStamped = 1 << 3
const isTransactional = 1 << 4
const isControl = 1 << 5

/**
 * The records that may be handled, and the offset to fetch next, past markers, gaps and rolled-back records. Records of a
 * rolled-back transaction are left out, even if its marker comes in a later answer.
 */
export function committedRecords(
  { records, abortedTransactions }: FetchedPartition,
  from: bigint,
): { readonly records: readonly FetchedRecord[]; readonly next: bigint; readonly epoch: number } {
  const starts = [...(abortedTransactions ?? [])].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1))
  const rolledBack = new Set<bigint>()
  const committed: FetchedRecord[] = []
  let next = from
  let epoch = noEpoch
  for (const batch of records ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta)
    while (starts[0] !== undefined && starts[0].firstOffset <= last) {
      rolledBack.add(starts[0].producerId)
      starts.shift()
    }
    if (last + 1n > next) next = last + 1n
    epoch = batch.partitionLeaderEpoch
    if ((batch.attributes & isControl) !== 0) {
      if (isRollback(batch)) rolledBack.delete(batch.producerId)
    } else if ((batch.attributes & isTransactional) === 0 || !rolledBack.has(batch.producerId)) {
      committed.push(...recordsFrom(batch, from))
    }
  }
  return { records: committed, next, epoch }
}

/** The broker sends whole batches, so the first records may lie before the requested offset. */
function recordsFrom(batch: RecordsBatch, from: bigint): FetchedRecord[] {
  const { firstOffset, firstTimestamp, maxTimestamp, attributes, records, partitionLeaderEpoch: epoch } = batch
  const stamp = (attributes & isStamped) === 0 ? undefined : maxTimestamp
  return records
    .map((record) => ({
      offset: firstOffset + BigInt(record.offsetDelta),
      timestampMs: Number(stamp ?? firstTimestamp + record.timestampDelta),
      epoch,
      record,
    }))
    .filter(({ offset }) => offset >= from)
}

/** The key of a marker is a version and a type, two bytes each. Type 0 is a rollback. */
function isRollback({ records }: RecordsBatch): boolean {
  const key = records[0]?.key
  return key !== null && key !== undefined && key.length >= 4 && key.readInt16BE(2) === 0
}
