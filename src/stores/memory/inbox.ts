import type { Inbox, InboxRecord, RecordKey } from '../../contracts/index.ts'
import { splitChanges } from '../../encoding/split-changes.ts'
import type { InboxRow, MemoryDatabase } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

/** Unique for each pair. */
export function rowKey({ handler, key }: RecordKey): string {
  return JSON.stringify([handler, key])
}

export function memoryInbox(transactions: Transactions): Inbox<MemoryTx> {
  return {
    async claim(tx, requests) {
      const { database } = transactionOf(tx)
      const horizon = database.horizon.get('horizon') ?? Number.NEGATIVE_INFINITY
      const tooOld = new Set<number>()
      const existing = requests.map((request, place) => {
        const record = database.inbox.get(rowKey(request))
        if (record !== undefined) return copyOf(record)
        const { born } = request
        if (born !== undefined && born.getTime() < horizon) {
          tooOld.add(place)
          return undefined
        }
        const fingerprint = request.fingerprint && new Uint8Array(request.fingerprint)
        const processedAt = new Date(database.now())
        database.inbox.set(rowKey(request), { state: 'processed', fingerprint, processedAt, result: undefined, born })
        return undefined
      })
      return { epoch: epochOf(database), existing, tooOld }
    },
    async update(tx, changes) {
      const { database } = transactionOf(tx)
      const { unclaimed, kept } = splitChanges(changes)
      for (const key of unclaimed) database.inbox.delete(rowKey(key))
      for (const { state, result, ...key } of kept) {
        const record = database.inbox.get(rowKey(key))
        if (record === undefined) continue
        database.inbox.set(rowKey(key), { ...record, state, result, processedAt: new Date(database.now()) })
      }
    },
    find: (keys) => transactions.read((database) => keys.map((key) => committedRecord(database, key))),
    async forget(tx, keys) {
      const { database } = transactionOf(tx)
      database.epoch.set('epoch', String(database.nextNumber()))
      const known = keys.filter((key) => (database.inbox.get(rowKey(key))?.state ?? 'parked') !== 'parked')
      for (const key of known) database.inbox.delete(rowKey(key))
      return known.length
    },
  }
}

function committedRecord(database: MemoryDatabase, key: RecordKey): InboxRecord | undefined {
  const record = database.inbox.committed(rowKey(key))
  return record && copyOf(record)
}

function epochOf(database: MemoryDatabase): string {
  return `${database.id}.${database.epoch.get('epoch') ?? '0'}`
}

function copyOf({ born, ...record }: InboxRow): InboxRecord {
  return {
    ...record,
    fingerprint: record.fingerprint && new Uint8Array(record.fingerprint),
    processedAt: new Date(record.processedAt),
  }
}
