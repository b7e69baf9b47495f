import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { byNumber, copyOfMessage } from './copies.ts'
import { withinBytes } from './due.ts'
import type { MemoryDatabase, OutboxRow } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryOutbox(transactions: Transactions): Outbox<MemoryTx> {
  return {
    async append(tx, messages) {
      const { database } = transactionOf(tx)
      for (const { id, key, message } of messages) {
        const number = database.nextNumber()
        const row = { id, key, message: copyOfMessage(message), number, attempts: 0, nextAt: 0, lease: undefined }
        database.outbox.set(String(number), { ...row, state: 'pending', error: '' })
      }
    },
    lease: (limit, leaseMs, maxBytes = Number.POSITIVE_INFINITY) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const token = String(database.nextNumber())
        return withinBytes(dueOf(database, now).slice(0, limit), maxBytes).map((row) => {
          const lease = `${row.number}.${token}`
          database.outbox.set(String(row.number), { ...row, lease, nextAt: now + leaseMs })
          return { id: row.id, message: copyOfMessage(row.message), lease, attempts: row.attempts }
        })
      }),
    markSent: (messages) =>
      transactions.short(({ database }) => {
        const held = messages.flatMap((message) => heldRow(database, message))
        for (const { number } of held) database.outbox.delete(String(number))
        return held.length
      }),
    markFailed: (messages, { delayMs, error, dead }) =>
      transactions.short(({ database }) => {
        for (const row of messages.flatMap((message) => heldRow(database, message))) {
          const nextAt = database.now() + delayMs
          const state = dead ? 'dead' : 'pending'
          database.outbox.set(String(row.number), {
            ...row,
            lease: undefined,
            attempts: row.attempts + 1,
            state,
            nextAt,
            error,
          })
        }
      }),
    release: (messages) =>
      transactions.short(({ database }) => {
        for (const row of messages.flatMap((message) => heldRow(database, message)))
          database.outbox.set(String(row.number), { ...row, lease: undefined, nextAt: 0 })
      }),
    count: () =>
      transactions.read(({ outbox }) => {
        const rows = outbox.committedEntries().map(([, row]) => row)
        const dead = rows.filter((row) => row.state === 'dead').length
        return { pending: rows.length - dead, dead }
      }),
    listDead: (limit) =>
      transactions.read(({ outbox }) => {
        const rows = outbox.committedEntries().map(([, row]) => row)
        const dead = rows.filter((row) => row.state === 'dead').sort(byNumber)
        return dead
          .slice(0, limit)
          .map(({ id, message, attempts, error }) => ({ id, message: copyOfMessage(message), attempts, error }))
      }),
    retryDead: (ids) =>
      transactions.short(({ database }) => {
        const wanted = database.outbox
          .values()
          .filter(({ id, state }) => state === 'dead' && (ids === undefined || ids.includes(id)))
        for (const row of wanted)
          database.outbox.set(String(row.number), { ...row, state: 'pending', attempts: 0, nextAt: 0 })
        return wanted.length
      }),
  }
}

/** Oldest first, without what stands behind one of its key that waits or is leased. */
function dueOf(database: MemoryDatabase, now: number): OutboxRow[] {
  const blocked = new Set<string>()
  return database.outbox
    .values()
    .filter(({ state }) => state === 'pending')
    .sort(byNumber)
    .filter(({ key, nextAt }) => {
      if (key !== undefined && nextAt > now) blocked.add(key)
      return nextAt <= now && (key === undefined || !blocked.has(key))
    })
}

function heldRow(database: MemoryDatabase, { lease }: LeasedMessage): OutboxRow[] {
  const row = database.outbox.get(lease.slice(0, lease.indexOf('.')))
  return row?.lease === lease ? [row] : []
}
