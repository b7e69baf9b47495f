import type { FactChange, Facts } from '../../contracts/index.ts'
import { changedFact, type FactRow, kindOfFact, latestFactFirst, stillStands } from '../../facts/index.ts'
import { type MemoryTransaction, type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryFacts(transactions: Transactions): Facts<MemoryTx> {
  const changeAll = ({ database }: MemoryTransaction, changes: readonly FactChange[]) =>
    changes.map((change) => {
      const { row, revision } = changedFact(database.facts.get(change.name), change, database.now())
      if (row !== undefined) database.facts.set(change.name, row)
      return revision
    })
  return {
    read: (names) =>
      transactions.read((database) =>
        names.map((name) => {
          const known = database.facts.committed(name)
          return stillStands(known, database.now()) ? { value: known.value, revision: known.revision } : undefined
        }),
      ),
    list: (kind, limit) =>
      transactions.read((database) =>
        database.facts
          .committedEntries()
          .filter(([name, known]) => kindOfFact(name) === kind && stillStands(known, database.now()))
          .map(([name, { value, revision }]) => ({ name, value, revision }))
          .sort(latestFactFirst)
          .slice(0, limit),
      ),
    change: async (tx, changes) =>
      tx === undefined
        ? await transactions.short((transaction) => changeAll(transaction, changes))
        : changeAll(transactionOf(tx), changes),
    async remove(tx, which) {
      const removeAll = ({ database }: MemoryTransaction) => {
        const hasExpired = ([name, known]: [string, FactRow]) =>
          'expiredOf' in which && kindOfFact(name) === which.expiredOf && !stillStands(known, database.now())
        const names =
          'expiredOf' in which
            ? database.facts
                .entries()
                .filter(hasExpired)
                .map(([name]) => name)
            : which
        for (const name of names) database.facts.delete(name)
      }
      if (tx === undefined) await transactions.short(removeAll)
      else removeAll(transactionOf(tx))
    },
  }
}
