import type { Leases } from '../../../src/contracts/index.ts'
import { inTransaction, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'

const table = 'leases'

interface LeaseRow {
  readonly fence: number
  readonly leaseMs: number
  readonly endsAt: number
}

export function simLeases(context: SimStoreContext): Leases {
  /** Changes the row of a lease in one statement; `change` says what to, or that it stays. */
  const changeRow = <T>(
    step: string,
    name: string,
    change: (row: LeaseRow | undefined, now: number) => [T, LeaseRow?],
  ) =>
    context.read((client) =>
      client.connection.call(
        step,
        inTransaction(async (tx, session) => {
          const now = session.database.date().getTime()
          let answer: T | undefined
          await update(session, tx, table, name, (row) => {
            const [said, changed] = change(row as LeaseRow | undefined, now)
            answer = said
            return changed === undefined ? row : { ...changed }
          })
          return answer as T
        }),
      ),
    )
  return {
    acquire: (name, leaseMs) =>
      changeRow('acquire-lease', name, (row, now) => {
        if (row !== undefined && row.endsAt > now)
          return [undefined, { ...row, endsAt: Math.min(row.endsAt, now + row.leaseMs) }]
        const fence = Math.max((row?.fence ?? 0) + 1, now * 1_000)
        return [{ fence }, { fence, leaseMs, endsAt: now + leaseMs }]
      }),
    renew: (name, fence, leaseMs) =>
      changeRow('renew-lease', name, (row, now) =>
        row?.fence === fence && row.endsAt > now ? [true, { fence, leaseMs, endsAt: now + leaseMs }] : [false],
      ),
    release: (name, fence) =>
      changeRow('release-lease', name, (row, now) =>
        row?.fence === fence && row.endsAt > now ? [true, { ...row, endsAt: 0 }] : [false],
      ),
  }
}
