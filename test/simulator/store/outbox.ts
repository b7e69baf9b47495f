import type { DeadOutgoing, LeasedMessage, Outbox } from '../../../src/contracts/index.ts'
import type { Row, Visible } from '../database/sim-database.ts'
import { insertIfAbsent, inTransaction, takeSkippingLocked, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'
import { withinBytes } from './within-bytes.ts'

const table = 'outbox'

/** As a sequence of a database: it grows with every row, whatever becomes of its transaction. */
let numbers = 0

export function simOutbox(context: SimStoreContext): Outbox<SimClient> {
  let leases = 0
  const rowsOf = (client: SimClient): Promise<Visible[]> =>
    client.connection.call(
      'read',
      inTransaction((tx, session) => session.database.scan(tx, table)),
    )
  return {
    append: (client, messages) =>
      client.connection.call(
        'append',
        inTransaction(async (tx, session) => {
          for (const message of messages) {
            const number = numbers++
            await insertIfAbsent(session, tx, table, String(number), {
              ...message,
              number,
              attempts: 0,
              nextAt: 0,
              lease: '',
              error: '',
              dead: false,
            })
          }
        }),
      ),
    lease: (limit, leaseMs, maxBytes = Number.POSITIVE_INFINITY) =>
      context.read((client) =>
        client.connection.call(
          'lease',
          inTransaction(async (tx, session) => {
            const now = session.database.scheduler.now
            const waits = (row: Row) => !row.dead && (row.nextAt as number) > now
            const isDue = (row: Row, all: readonly Visible[]) =>
              !row.dead && !waits(row) && !all.some((other) => isBefore(other.row, row) && waits(other.row))
            const due = await takeSkippingLocked(session, tx, table, limit, isDue, byNumber)
            // A rival may be leasing what stands before it.
            const taken = new Set(due.map(({ key }) => key))
            const others = session.database.scan(tx, table).filter(({ key, row }) => !row.dead && !taken.has(key))
            const unbroken = due.filter(({ row }) => !others.some((other) => isBefore(other.row, row)))
            const chosen = new Set(
              withinBytes(
                unbroken.map(({ row }) => row),
                maxBytes,
              ),
            )
            const leased: LeasedMessage[] = []
            for (const { key, row } of unbroken) {
              if (!chosen.has(row)) continue
              const lease = `${key}.${context.name}-${leases++}`
              await update(session, tx, table, key, () => ({ ...row, lease, nextAt: now + leaseMs }))
              leased.push({ ...row, lease } as unknown as LeasedMessage)
            }
            return leased
          }),
        ),
      ),
    markSent: (messages) => context.read((client) => changeLeased(client, messages, 'mark-sent', () => undefined)),
    markFailed: async (messages, { delayMs, error, dead }) => {
      await context.read((client) =>
        changeLeased(client, messages, 'mark-failed', (row, now) => ({
          ...row,
          attempts: (row.attempts as number) + 1,
          nextAt: now + delayMs,
          lease: '',
          error,
          dead,
        })),
      )
    },
    release: async (messages) => {
      await context.read((client) =>
        changeLeased(client, messages, 'give-back', (row) => ({ ...row, lease: '', nextAt: 0 })),
      )
    },
    count: () =>
      context.read(async (client) => {
        const rows = await rowsOf(client)
        const dead = rows.filter(({ row }) => row.dead).length
        return { pending: rows.length - dead, dead }
      }),
    listDead: (limit) =>
      context.read(async (client) => {
        const dead = (await rowsOf(client)).map(({ row }) => row).filter((row) => row.dead)
        return dead.toSorted(byNumber).slice(0, limit) as unknown as DeadOutgoing[]
      }),
    retryDead: (ids) =>
      context.read((client) =>
        client.connection.call(
          'retry-dead',
          inTransaction(async (tx, session) => {
            const dead = session.database.scan(tx, table).filter(({ row }) => row.dead)
            const wanted = dead.filter(({ row }) => ids === undefined || ids.includes(row.id as string))
            for (const { key, row } of wanted)
              await update(session, tx, table, key, () => ({ ...row, dead: false, attempts: 0, nextAt: 0 }))
            return wanted.length
          }),
        ),
      ),
  }
}

function byNumber(a: Row, b: Row): number {
  return (a.number as number) - (b.number as number)
}

function isBefore(earlier: Row, row: Row): boolean {
  return row.key !== undefined && earlier.key === row.key && byNumber(earlier, row) < 0
}

function changeLeased(
  client: SimClient,
  messages: readonly LeasedMessage[],
  step: string,
  change: (row: Row, now: number) => Row | undefined,
): Promise<number> {
  return client.connection.call(
    step,
    inTransaction(async (tx, session) => {
      let changed = 0
      for (const { lease } of messages) {
        await update(session, tx, table, lease.slice(0, lease.indexOf('.')), (row) => {
          if (row === undefined || row.lease !== lease) return row
          changed++
          return change(row, session.database.scheduler.now)
        })
      }
      return changed
    }),
  )
}
