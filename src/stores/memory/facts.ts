import type { Facts } from '../../contracts/index.ts'
import { changedFact, stillStands } from '../../facts/index.ts'
import { type MemoryTx, transactionOf } from './memory-tx.ts'
import type { Transactions } from './transactions.ts'

export function memoryFacts(transactions: Transactions): Facts<MemoryTx> {
  return {
    read: (names) =>
      transactions.read((database) =>
        names.map((name) => {
          const known = database.facts.committed(name)
          return stillStands(known, database.now()) ? { value: known.value, revision: known.revision } : undefined
        }),
      ),
    change: (changes) =>
      transactions.short(({ database }) =>
        changes.map((change) => {
          const { row, revision } = changedFact(database.facts.get(change.name), change, database.now())
          if (row !== undefined) database.facts.set(change.name, row)
          return revision
        }),
      ),
    async remove(tx, names) {
      const { facts } = transactionOf(tx).database
      for (const name of names) facts.delete(name)
    },
    sweep: (prefix) =>
      transactions.short(({ database }) => {
        for (const [name, known] of database.facts.committedEntries())
          if (name.startsWith(prefix) && !stillStands(known, database.now())) database.facts.delete(name)
      }),
  }
}
