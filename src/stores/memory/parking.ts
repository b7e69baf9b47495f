import type { ParkedFilter, Parking, StoredParkedMessage } from '../../contracts/index.ts'
import { byNumber, copyOfMessage } from './copies.ts'
import { rowKey } from './inbox.ts'
import type { ParkedRow } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryParking(transactions: Transactions): Parking<MemoryTx> {
  return {
    async park(tx, messages) {
      const { database } = transactionOf(tx)
      for (const { delayMs, ...message } of messages) {
        if (database.parked.get(rowKey(message)) !== undefined) continue
        const now = database.now()
        database.parked.set(rowKey(message), {
          ...message,
          message: copyOfMessage(message.message),
          number: database.nextNumber(),
          parkedAt: new Date(now),
          nextAt: new Date(now + delayMs),
        })
      }
    },
    async takeDue(tx, { limit, handlers }) {
      const { database } = transactionOf(tx)
      const now = database.now()
      const rows = database.parked.values()
      return rows
        .filter((row) => row.state === 'waiting' && row.nextAt.getTime() <= now && handlers.includes(row.handler))
        .filter((row) => !rows.some((other) => comesBefore(other, row)))
        .sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime() || byNumber(a, b))
        .slice(0, limit)
        .map(messageOf)
    },
    async take(tx, key) {
      const row = transactionOf(tx).database.parked.get(rowKey(key))
      return row && messageOf(row)
    },
    async change(tx, changes) {
      const { database } = transactionOf(tx)
      for (const change of changes) {
        const row = database.parked.get(rowKey(change))
        if (row === undefined) continue
        if (change.kind === 'done') database.parked.delete(rowKey(change))
        else {
          const { attempts, reason, errors } = change
          const delayMs = change.kind === 'again' ? change.delayMs : 0
          const state = change.kind === 'again' ? 'waiting' : 'dead'
          const nextAt = new Date(database.now() + delayMs)
          database.parked.set(rowKey(change), { ...row, state, attempts, reason, errors, nextAt })
        }
      }
    },
    list: (filter = {}) =>
      transactions.read(({ parked }) => filtered(parked.committedEntries(), filter).map(messageOf)),
    count: (filter = {}) => transactions.read(({ parked }) => filtered(parked.committedEntries(), filter).length),
  }
}

function comesBefore(other: ParkedRow, row: ParkedRow): boolean {
  if (row.independent || other.step >= row.step) return false
  return other.source === row.source && other.type === row.type && other.messageId === row.messageId
}

function filtered(entries: [string, ParkedRow][], { state, handler, limit }: ParkedFilter): ParkedRow[] {
  return entries
    .map(([, row]) => row)
    .filter((row) => (state === undefined || row.state === state) && (handler === undefined || row.handler === handler))
    .sort(byNumber)
    .slice(0, limit)
}

function messageOf({ number, ...row }: ParkedRow): StoredParkedMessage {
  return {
    ...row,
    message: copyOfMessage(row.message),
    parkedAt: new Date(row.parkedAt),
    nextAt: new Date(row.nextAt),
  }
}
