import type { GroupTally, LetterGroup, Letters } from '../../contracts/index.ts'
import { copyOfMessage } from './copies.ts'
import { rowKey } from './inbox.ts'
import type { ParkedRow } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import { fits } from './parked-filter.ts'
import { bySequence, changeRow, committedRows } from './parking.ts'
import type { Transactions } from './transactions.ts'

export function memoryLetters(transactions: Transactions): Letters<MemoryTx> {
  return {
    groups: (filter, limit) =>
      transactions.read((database) => {
        const dead = committedRows(database).filter(fits({ ...filter, state: 'dead' }))
        return [...Map.groupBy(dead, groupKey).values()]
          .map((rows) => countedGroup(rows as [ParkedRow, ...ParkedRow[]]))
          .sort((a, b) => b.count - a.count || b.lastAt.getTime() - a.lastAt.getTime() || byName(a, b))
          .slice(0, limit)
      }),
    async discard(tx, filter, limit) {
      const { parked } = transactionOf(tx).database
      const fitting = parked.values().filter(fits({ ...filter, state: 'dead' }))
      return fitting
        .sort(bySequence)
        .slice(0, limit)
        .map(({ handler, key }) => {
          parked.delete(rowKey({ handler, key }))
          return { handler, key }
        })
    },
    async replace(tx, key, message) {
      const { database } = transactionOf(tx)
      const row = database.parked.get(rowKey(key))
      if (row?.state !== 'dead') return false
      const originalBody = row.originalBody ?? row.message.body
      changeRow(database, row, { message: copyOfMessage(message), originalBody })
      return true
    },
  }
}

function groupKey({ handler, reason, shape }: LetterGroup): string {
  return JSON.stringify([handler, reason, shape])
}

function byName(a: LetterGroup, b: LetterGroup): number {
  return groupKey(a) < groupKey(b) ? -1 : 1
}

function countedGroup(rows: readonly [ParkedRow, ...ParkedRow[]]): GroupTally {
  const [{ handler, reason, shape, parkedAt, changedAt }] = rows
  const firstAt = rows.reduce((first, row) => Math.min(first, row.parkedAt.getTime()), parkedAt.getTime())
  const lastAt = rows.reduce((last, row) => Math.max(last, row.changedAt.getTime()), changedAt.getTime())
  return { handler, reason, shape, count: rows.length, firstAt: new Date(firstAt), lastAt: new Date(lastAt) }
}
