import type { Leases } from '../../contracts/index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now } from './statements.ts'
import type { Transactions } from './transactions.ts'

// The row stays when it is released, so that the fence only grows; it begins with the time, in case that the row was lost.
const acquireOne = `INSERT INTO main.justonce_leases (name, fence, lease_ms, ends_at)
  VALUES (?, ${now} * 1000, ?, ${now} + ?)
  ON CONFLICT (name) DO UPDATE SET fence = max(fence + 1, excluded.fence), lease_ms = excluded.lease_ms,
    ends_at = excluded.ends_at WHERE ends_at <= ${now} RETURNING fence`
// None ends later than its length from now, unless the clock was ahead when it was taken.
const shortenOne = `UPDATE main.justonce_leases SET ends_at = ${now} + lease_ms WHERE name = ? AND ends_at > ${now} + lease_ms`
const renewOne = `UPDATE main.justonce_leases SET lease_ms = ?, ends_at = ${now} + ?
  WHERE name = ? AND fence = ? AND ends_at > ${now}`
const releaseOne = `UPDATE main.justonce_leases SET ends_at = 0 WHERE name = ? AND fence = ? AND ends_at > ${now}`

export function sqliteLeases<Database extends SqliteDatabase>(transactions: Transactions<Database>): Leases {
  return {
    acquire: (name, leaseMs) =>
      transactions.short((statements) => {
        const row = statements.get<{ fence: number }>(acquireOne, name, Math.ceil(leaseMs), Math.ceil(leaseMs))
        if (row !== undefined) return { fence: row.fence }
        statements.run(shortenOne, name)
        return undefined
      }),
    renew: (name, fence, leaseMs) =>
      transactions.short(
        (statements) => statements.run(renewOne, Math.ceil(leaseMs), Math.ceil(leaseMs), name, fence) === 1,
      ),
    release: (name, fence) => transactions.short((statements) => statements.run(releaseOne, name, fence) === 1),
  }
}
