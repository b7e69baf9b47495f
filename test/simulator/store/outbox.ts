import type { LeasedMessage, Outbox } from '../../../src/contracts/index.ts'
import type { Row } from '../database/sim-database.ts'
import { insertIfAbsent, inTransaction, takeSkippingLocked, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

const table = 'outbox'

export function simOutbox(context: SimStoreContext): Outbox<SimClient> {
  let leases = 0
  return {
    append: (client, messages) =>
      client.connection.call(
        'append',
        inTransaction(async (tx, session) => {
          for (const message of messages) {
            await insertIfAbsent(session, tx, table, message.id, {
              ...message,
              attempts: 0,
              nextAt: 0,
              lease: '',
              dead: false,
            })
          }
        }),
      ),
    lease: (limit, leaseMs) =>
      context.read((client) =>
        client.connection.call(
          'lease',
          inTransaction(async (tx, session) => {
            const now = session.database.scheduler.now
            const isDue = (row: Row) => !row.dead && (row.nextAt as number) <= now
            const due = await takeSkippingLocked(session, tx, table, limit, isDue)
            const leased: LeasedMessage[] = []
            for (const { key, row } of due) {
              const lease = `${context.name}-${leases++}`
              await update(session, tx, table, key, () => ({ ...row, lease, nextAt: now + leaseMs }))
              leased.push({ ...row, lease } as unknown as LeasedMessage)
            }
            return leased
          }),
        ),
      ),
    markSent: (messages) => context.read((client) => changeLeased(client, messages, 'mark-sent', () => undefined)),
    markFailed: async (messages, { delayMs, dead }) => {
      await context.read((client) =>
        changeLeased(client, messages, 'mark-failed', (row, now) => ({
          ...row,
          attempts: (row.attempts as number) + 1,
          nextAt: now + delayMs,
          dead,
        })),
      )
    },
    count: () =>
      context.read(async (client) => {
        const rows = await client.connection.call(
          'read',
          inTransaction((tx, session) => session.database.scan(tx, table)),
        )
        const dead = rows.filter(({ row }) => row.dead).length
        return { pending: rows.length - dead, dead }
      }),
  }
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
      for (const { id, lease } of messages) {
        await update(session, tx, table, id, (row) => {
          if (row === undefined || row.lease !== lease) return row
          changed++
          return change(row, session.database.scheduler.now)
        })
      }
      return changed
    }),
  )
}
