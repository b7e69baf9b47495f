import type { Audit, AuditEntry } from '../../../src/contracts/index.ts'
import { insertIfAbsent, inTransaction } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'audit'

export function simAudit(context: SimStoreContext): Audit<SimClient> {
  return {
    append: (client, entries) =>
      client.connection.call(
        'audit',
        inTransaction(async (tx, session) => {
          for (const entry of entries) {
            const place = session.database.nextNumber()
            await insertIfAbsent(session, tx, table, String(place), { ...entry, place, at: session.database.date() })
          }
        }),
      ),
    list: (limit) =>
      context.read((client) =>
        client.connection.call(
          'read',
          inTransaction((tx, session) =>
            session.database
              .scan(tx, table)
              .map(({ row }) => row as unknown as AuditEntry & { at: Date; place: number })
              .sort((a, b) => b.place - a.place)
              .slice(0, limit)
              .map(({ place, ...entry }) => entry),
          ),
        ),
      ),
  }
}
