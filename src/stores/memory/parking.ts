import type { BehindOptions, ParkedEdit, Parking, StoredParkedMessage } from '../../contracts/index.ts'
import { dueRows, rowsBehind, withinBytes } from '../shared/due-rows.ts'
import { fitsFilter } from '../shared/fits-filter.ts'
import { tallyRows } from '../shared/tally-rows.ts'
import { copyOfMessage } from './copies.ts'
import { rowKey } from './inbox.ts'
import type { MemoryDatabase, ParkedRow } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

/** There is only one transaction at a time, so everything it reads is locked. */
export function memoryParking(transactions: Transactions): Parking<MemoryTx> {
  return {
    async park(tx, messages) {
      const { database } = transactionOf(tx)
      for (const { delayMs, dueAt, ...message } of messages) {
        if (database.parked.get(rowKey(message)) !== undefined) continue
        const now = database.now()
        database.parked.set(rowKey(message), {
          ...message,
          message: copyOfMessage(message.message),
          sequence: database.nextNumber(),
          revision: database.nextNumber(),
          begun: 0,
          parkedAt: new Date(now),
          changedAt: new Date(now),
          nextAt: new Date(dueAt ?? now + delayMs),
          originalBody: message.originalBody && new Uint8Array(message.originalBody),
          redrive: message.redrive,
          released: message.redrive !== undefined,
        })
      }
    },
    async reserve(options) {
      if (options.behind !== undefined) return await reserveBehind(transactions, options)
      const isAnyDue = await transactions.read(
        (database) => dueRows(committedRows(database), database.now(), options).length > 0,
      )
      if (!isAnyDue) return []
      return transactions.short(({ database }) =>
        dueRows(database.parked.values(), database.now(), options).map((row) => {
          const nextAt = new Date(database.now() + options.forMs)
          return messageOf(changeRow(database, row, { nextAt }))
        }),
      )
    },
    rebook: (bookings, forMs) =>
      transactions.short(({ database }) =>
        bookings.map((booking) => {
          const row = database.parked.get(rowKey(booking))
          if (row?.revision !== booking.revision) return undefined
          return changeRow(database, row, { begun: booking.begun, nextAt: new Date(database.now() + forMs) }).revision
        }),
      ),
    async take(tx, tickets) {
      const { parked } = transactionOf(tx).database
      return tickets.map((ticket) => parked.get(rowKey(ticket))?.revision === ticket.revision)
    },
    async change(tx, changes) {
      const { database } = transactionOf(tx)
      for (const change of changes) {
        const row = database.parked.get(rowKey(change))
        if (row === undefined) continue
        if (change.kind === 'done') database.parked.delete(rowKey(change))
        else {
          const { attempts, reason, shape, errors } = change
          const state = change.kind === 'again' ? 'waiting' : 'dead'
          const now = database.now()
          const nextAt = new Date(now + (change.kind === 'again' ? change.delayMs : 0))
          changeRow(database, row, {
            state,
            attempts,
            begun: 0,
            reason,
            shape,
            errors,
            nextAt,
            changedAt: new Date(now),
            step: (change.kind === 'dead' ? change.step : undefined) ?? row.step,
          })
        }
      }
    },
    async blocked(tx, scopes) {
      const rows = transactionOf(tx).database.parked.values()
      return scopes.map(({ handler, orderKey, pastDead }) => {
        const inScope = fitsFilter({ handler, orderKey, state: pastDead ? 'waiting' : undefined })
        return rows.some(inScope)
      })
    },
    list: (filter = {}, { limit = 1_000, after = 0, maxBytes = Number.POSITIVE_INFINITY } = {}) =>
      transactions.read((database) => {
        const found = committedRows(database)
          .filter(fitsFilter(filter))
          .filter(({ sequence }) => sequence > after)
          .sort(bySequence)
        return withinBytes(found.slice(0, limit), maxBytes).map(messageOf)
      }),
    tally: (filter, by, limit) =>
      transactions.read((database) => tallyRows(committedRows(database).filter(fitsFilter(filter)), by, limit)),
    async edit(tx, filter, edit, limit) {
      const { database } = transactionOf(tx)
      const rows = database.parked.values().filter(fitsFilter(filter)).sort(bySequence).slice(0, limit)
      for (const row of rows) editRow(database, row, edit)
      return rows.map(({ handler, key }) => ({ handler, key }))
    },
  }
}

function reserveBehind(transactions: Transactions, options: BehindOptions): Promise<StoredParkedMessage[]> {
  return transactions.short(({ database }) => {
    const head = database.parked.get(rowKey(options.behind))
    if (head?.revision !== options.behind.revision) return []
    const nextAt = new Date(database.now() + options.forMs)
    const behind = rowsBehind(database.parked.values(), head, database.now(), options)
    return behind.map((row) => messageOf(changeRow(database, row, { nextAt })))
  })
}

function editRow(database: MemoryDatabase, row: ParkedRow, edit: ParkedEdit): void {
  const now = new Date(database.now())
  if (edit.kind === 'remove') database.parked.delete(rowKey(row))
  else if (edit.kind === 'mark') database.parked.set(rowKey(row), { ...row, redrive: edit.redrive, released: false })
  else if (edit.kind === 'release')
    changeRow(database, row, { state: 'waiting', attempts: 0, begun: 0, released: true, nextAt: now, changedAt: now })
  else {
    const originalBody = row.originalBody ?? row.message.body
    changeRow(database, row, { message: copyOfMessage(edit.message), originalBody })
  }
}

/** Every change of a row, except of its redrive mark, goes through here. */
function changeRow(database: MemoryDatabase, row: ParkedRow, changes: Partial<ParkedRow>): ParkedRow {
  const changed = { ...row, ...changes, revision: database.nextNumber() }
  database.parked.set(rowKey(row), changed)
  return changed
}

function committedRows({ parked }: MemoryDatabase): ParkedRow[] {
  return parked.committedEntries().map(([, row]) => row)
}

function bySequence(a: ParkedRow, b: ParkedRow): number {
  return a.sequence - b.sequence
}

function messageOf(row: ParkedRow): StoredParkedMessage {
  return {
    ...row,
    message: copyOfMessage(row.message),
    originalBody: row.originalBody && new Uint8Array(row.originalBody),
    parkedAt: new Date(row.parkedAt),
    changedAt: new Date(row.changedAt),
    nextAt: new Date(row.nextAt),
  }
}
