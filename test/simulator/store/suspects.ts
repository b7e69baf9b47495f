import type { Suspects } from '../../../src/contracts/index.ts'
import { inTransaction, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'suspects'

export function simSuspects(context: SimStoreContext): Suspects<SimClient> {
  return {
    look: (ids) =>
      context.read((client) =>
        client.connection.call('look-at-suspects', ({ database }) =>
          ids.map((id) => Number(database.read(undefined, table, id)?.count ?? 0)),
        ),
      ),
    begin: (ids) => context.read((client) => changeCounts(client, 'suspect', ids, (count) => count + 1)),
    clear: (client, ids) => changeCounts(client, 'clear-suspects', ids, () => 0),
    forgive: (ids) => context.read((client) => changeCounts(client, 'forgive-suspects', ids, (count) => count - 1)),
    forget: (olderThanMs) =>
      context.read((client) =>
        client.connection.call(
          'forget-suspects',
          inTransaction(async (tx, session) => {
            const before = session.database.date(-olderThanMs)
            for (const { key, row } of session.database.scan(tx, table))
              if ((row.seenAt as Date) < before) await update(session, tx, table, key, () => undefined)
          }),
        ),
      ),
  }
}

/** In one order, so that two processes never wait for each other. A count of nothing is no row. */
function changeCounts(
  client: SimClient,
  step: string,
  ids: readonly string[],
  change: (count: number) => number,
): Promise<void> {
  return client.connection.call(
    step,
    inTransaction(async (tx, session) => {
      for (const id of ids.toSorted()) {
        await update(session, tx, table, id, (row) => {
          const count = change((row?.count as number | undefined) ?? 0)
          return count > 0 ? { count, seenAt: session.database.date() } : undefined
        })
      }
    }),
  )
}
