import type { Facts } from '../../../src/contracts/index.ts'
import { changedFact, type FactRow, kindOfFact, latestFactFirst, stillStands } from '../../../src/facts/index.ts'
import type { Visible } from '../database/sim-database.ts'
import { inTransaction, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'facts'

export function simFacts(context: SimStoreContext): Facts<SimClient> {
  return {
    read: (names) =>
      context.read((client) =>
        client.connection.call('read-facts', ({ database }) =>
          names.map((name) => {
            const known = database.read(undefined, table, name) as FactRow | undefined
            if (!stillStands(known, database.date().getTime())) return undefined
            return { value: known.value, revision: known.revision }
          }),
        ),
      ),
    list: (kind, limit) =>
      context.read((client) =>
        client.connection.call('read-facts', ({ database }) =>
          database
            .scan(undefined, table)
            .map(({ key, row }) => ({ name: key, ...(row as unknown as FactRow) }))
            .filter((fact) => kindOfFact(fact.name) === kind && stillStands(fact, database.date().getTime()))
            .map(({ name, value, revision }) => ({ name, value, revision }))
            .sort(latestFactFirst)
            .slice(0, limit),
        ),
      ),
    change(tx, changes) {
      const changeAll = (client: SimClient) =>
        client.connection.call(
          'change-facts',
          inTransaction(async (tx, session) => {
            const revisions = new Map<string, number | undefined>()
            // In one order, so that two processes never wait for each other.
            for (const change of changes.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
              await update(session, tx, table, change.name, (known) => {
                const now = session.database.date().getTime()
                const { row, revision } = changedFact(known as FactRow | undefined, change, now)
                revisions.set(change.name, revision)
                return row === undefined ? known : { ...row }
              })
            }
            return changes.map(({ name }) => revisions.get(name))
          }),
        )
      return tx === undefined ? context.read(changeAll) : changeAll(tx)
    },
    remove(tx, which) {
      const removeAll = (client: SimClient) =>
        client.write(
          'remove-facts',
          inTransaction(async (tx, session) => {
            const now = session.database.date().getTime()
            const hasExpired = ({ key, row }: Visible) =>
              'expiredOf' in which &&
              kindOfFact(key) === which.expiredOf &&
              !stillStands(row as unknown as FactRow, now)
            const expired = session.database.scan(tx, table).filter(hasExpired)
            const names = 'expiredOf' in which ? expired.map(({ key }) => key) : which
            for (const name of names.toSorted()) await update(session, tx, table, name, () => undefined)
          }),
        )
      return tx === undefined ? context.read(removeAll) : removeAll(tx)
    },
  }
}
