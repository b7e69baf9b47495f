import type { Audit } from '../../contracts/index.ts'
import { byNumber } from './copies.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryAudit(transactions: Transactions): Audit<MemoryTx> {
  return {
    async append(tx, entries) {
      const { database } = transactionOf(tx)
      for (const { action, by, why, subject } of entries) {
        const number = database.nextNumber()
        database.audit.set(String(number), { number, action, by, why, subject, at: new Date(database.now()) })
      }
    },
    list: (limit) =>
      transactions.read(({ audit }) => {
        const rows = audit.committedEntries().map(([, row]) => row)
        return rows
          .sort((a, b) => byNumber(b, a))
          .slice(0, limit)
          .map(({ number, at, ...entry }) => ({ ...entry, at: new Date(at) }))
      }),
  }
}
