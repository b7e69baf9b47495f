import { longestHiddenMs } from '../../clock/index.ts'
import type { Queue, QueueTicket } from '../../contracts/index.ts'
import { goneFrom, takenByAnother } from '../../errors/index.ts'
import { copyOfMessage } from './copies.ts'
import type { MemoryDatabase, QueueRow } from './memory-database.ts'
import { type MemoryTransaction, type MemoryTx, transactionOf } from './memory-tx.ts'
import { type Transactions, wakeListeners } from './transactions.ts'

export function memoryQueue(transactions: Transactions): Queue<MemoryTx> {
  const inside = async (tx: MemoryTx | undefined, work: (transaction: MemoryTransaction) => void): Promise<void> =>
    tx === undefined ? transactions.short(work) : work(transactionOf(tx))
  return {
    send: (tx, queue, messages) =>
      inside(tx, ({ database, sentTo }) => {
        sentTo.add(queue)
        for (const { message, key } of messages) {
          const sequence = database.nextNumber()
          const row = { sequence, queue, key, message: copyOfMessage(message), deliveries: 0, visibleAt: 0 }
          database.queue.set(String(sequence), { ...row, sentAt: database.now() })
        }
      }),
    take: (queue, { limit, visibilityMs, maxBytes = Number.POSITIVE_INFINITY }) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const rows = database.queue.values().filter((row) => row.queue === queue)
        const longest = now + longestHiddenMs(visibilityMs)
        for (const row of rows)
          if (row.visibleAt > longest) database.queue.set(String(row.sequence), { ...row, visibleAt: longest })
        return fitting(takeable(rows.sort(bySequence), now).slice(0, limit), maxBytes).map((row) => {
          const ticket = String(row.sequence)
          const deliveries = row.deliveries + 1
          database.queue.set(ticket, { ...row, deliveries, visibleAt: now + visibilityMs })
          return { ticket, message: copyOfMessage(row.message), deliveries }
        })
      }),
    remove: (tx, queue, tickets, still) =>
      inside(tx, ({ database }) => {
        if (still !== undefined && 'present' in still) {
          if (still.present.some((ticket) => database.queue.get(ticket)?.queue !== queue)) throw goneFrom(queue)
        } else if (still !== undefined) {
          const taken = tickets.map((ticket) => ({ ticket, ...still }))
          if (stillTaken(database, queue, taken).length < tickets.length) throw takenByAnother(queue)
        }
        for (const ticket of tickets) if (database.queue.get(ticket)?.queue === queue) database.queue.delete(ticket)
      }),
    hide: (queue, taken, visibilityMs, { untaken = false } = {}) =>
      transactions.short(({ database }) => {
        const visibleAt = visibilityMs === 0 ? 0 : database.now() + visibilityMs
        for (const row of stillTaken(database, queue, taken)) {
          const deliveries = row.deliveries - (untaken ? 1 : 0)
          database.queue.set(String(row.sequence), { ...row, deliveries, visibleAt })
        }
      }),
    count: (queue) =>
      transactions.read((database) => {
        const now = database.now()
        const rows = committedRows(database).filter((row) => row.queue === queue)
        const ready = rows.filter((row) => row.visibleAt <= now).length
        const oldestMs = rows.length === 0 ? undefined : now - Math.min(...rows.map(({ sentAt }) => sentAt))
        return { ready, hidden: rows.length - ready, oldestMs }
      }),
    list: (queue, { limit, after = '0', maxBytes = Number.POSITIVE_INFINITY }) =>
      transactions.read((database) => {
        const rows = committedRows(database).filter((row) => row.queue === queue && row.sequence > Number(after))
        const page = rows.sort(bySequence).slice(0, limit)
        return beginningWithin(page, maxBytes).map(({ sequence, message, deliveries, sentAt }) => {
          return { ticket: String(sequence), deliveries, message: copyOfMessage(message), sentAt: new Date(sentAt) }
        })
      }),
    queues: () => transactions.read((database) => [...new Set(committedRows(database).map(({ queue }) => queue))]),
    async listen(queue, wake) {
      const listener = { queue, wake }
      transactions.database.listeners.add(listener)
      return async () => void transactions.database.listeners.delete(listener)
    },
    async announce(queue, tx) {
      if (tx === undefined) wakeListeners(transactions.database, queue)
      else transactionOf(tx).sentTo.add(queue)
    },
  }
}

function committedRows(database: MemoryDatabase): QueueRow[] {
  return database.queue.committedEntries().map(([, row]) => row)
}

function stillTaken(database: MemoryDatabase, queue: string, taken: readonly QueueTicket[]): QueueRow[] {
  return taken.flatMap(({ ticket, deliveries }) => {
    const row = database.queue.get(ticket)
    return row?.queue === queue && row.deliveries === deliveries ? [row] : []
  })
}

/** As many as fit, from the first on, and always the first. */
function fitting(rows: readonly QueueRow[], maxBytes: number): readonly QueueRow[] {
  let bytes = 0
  const end = rows.findIndex(({ message }, place) => {
    bytes += message.body.byteLength
    return place > 0 && bytes > maxBytes
  })
  return end < 0 ? rows : rows.slice(0, end)
}

/** Those that begin within so many bytes, and always the first. */
function beginningWithin(rows: readonly QueueRow[], maxBytes: number): readonly QueueRow[] {
  let bytes = 0
  return rows.filter(({ message: { envelope, body } }, place) => {
    const begins = bytes
    bytes += envelope.byteLength + body.byteLength
    return place === 0 || begins < maxBytes
  })
}

/** Nothing behind a hidden message of the same key can be taken. `rows` are in the order in which they were sent. */
function takeable(rows: readonly QueueRow[], now: number): QueueRow[] {
  const held = new Set<string>()
  return rows.filter(({ key, visibleAt }) => {
    if (visibleAt > now && key !== undefined) held.add(key)
    return visibleAt <= now && (key === undefined || !held.has(key))
  })
}

function bySequence(a: QueueRow, b: QueueRow): number {
  return a.sequence - b.sequence
}
