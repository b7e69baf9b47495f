import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { byNumber, copyOfMessage } from './copies.ts'
import type { MemoryDatabase, OutboxRow } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryOutbox(transactions: Transactions): Outbox<MemoryTx> {
  return {
    async append(tx, messages) {
      const { database } = transactionOf(tx)
      for (const { id, message } of messages) {
        if (database.outbox.get(id) !== undefined) continue
        const number = database.nextNumber()
        const row = { id, message: copyOfMessage(message), number, attempts: 0, nextAt: 0, lease: undefined }
        database.outbox.set(id, { ...row, state: 'pending' })
      }
    },
    lease: (limit, leaseMs) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const due = database.outbox.values().filter((row) => row.state === 'pending' && row.nextAt <= now)
        const lease = String(database.nextNumber())
        return due
          .sort(byNumber)
          .slice(0, limit)
          .map((row) => {
            database.outbox.set(row.id, { ...row, lease, nextAt: now + leaseMs })
            return { id: row.id, message: copyOfMessage(row.message), lease, attempts: row.attempts }
          })
      }),
    markSent: (messages) =>
      transactions.short(({ database }) => {
        const held = messages.flatMap((message) => heldRow(database, message))
        for (const { id } of held) database.outbox.delete(id)
        return held.length
      }),
    markFailed: (messages, { delayMs, dead }) =>
      transactions.short(({ database }) => {
        for (const row of messages.flatMap((message) => heldRow(database, message))) {
          const nextAt = database.now() + delayMs
          const state = dead ? 'dead' : 'pending'
          database.outbox.set(row.id, { ...row, lease: undefined, attempts: row.attempts + 1, state, nextAt })
        }
      }),
    count: () =>
      transactions.read(({ outbox }) => {
        const rows = outbox.committedEntries().map(([, row]) => row)
        const dead = rows.filter((row) => row.state === 'dead').length
        return { pending: rows.length - dead, dead }
      }),
  }
}

function heldRow(database: MemoryDatabase, { id, lease }: LeasedMessage): OutboxRow[] {
  const row = database.outbox.get(id)
  return row?.lease === lease ? [row] : []
}
