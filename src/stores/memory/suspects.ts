import type { Suspects } from '../../contracts/index.ts'
import type { MemoryDatabase } from './memory-database.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memorySuspects(transactions: Transactions): Suspects<MemoryTx> {
  return {
    look: (ids) => transactions.read(({ suspects }) => ids.map((id) => suspects.committed(id)?.count ?? 0)),
    begin: (ids) =>
      transactions.short(({ database }) => {
        for (const id of ids) setCount(database, id, (database.suspects.get(id)?.count ?? 0) + 1, database.now())
      }),
    async clear(tx, ids) {
      const { suspects } = transactionOf(tx).database
      for (const id of ids) suspects.delete(id)
    },
    forgive: (ids) =>
      transactions.short(({ database }) => {
        for (const id of ids) {
          const known = database.suspects.get(id)
          if (known !== undefined) setCount(database, id, known.count - 1, known.seenAt)
        }
      }),
    forget: (olderThanMs) =>
      transactions.short(({ database }) => {
        const before = database.now() - olderThanMs
        for (const [id, { seenAt }] of database.suspects.committedEntries())
          if (seenAt < before) database.suspects.delete(id)
      }),
  }
}

function setCount({ suspects }: MemoryDatabase, id: string, count: number, seenAt: number): void {
  if (count > 0) suspects.set(id, { count, seenAt })
  else suspects.delete(id)
}
