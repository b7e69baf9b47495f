import type { Suspects } from '../../contracts/index.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memorySuspects(transactions: Transactions): Suspects<MemoryTx> {
  return {
    look: (ids) => transactions.read(({ suspects }) => ids.map((id) => suspects.committed(id) ?? 0)),
    begin: (ids) =>
      transactions.short(({ database: { suspects } }) => {
        for (const id of ids) suspects.set(id, (suspects.get(id) ?? 0) + 1)
      }),
    async clear(tx, ids) {
      const { suspects } = transactionOf(tx).database
      for (const id of ids) suspects.delete(id)
    },
    forgive: (ids) =>
      transactions.short(({ database }) => {
        for (const id of ids) {
          const count = database.suspects.get(id) ?? 0
          if (count > 1) database.suspects.set(id, count - 1)
          else database.suspects.delete(id)
        }
      }),
  }
}
