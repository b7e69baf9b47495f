import { randomUUID } from 'node:crypto'
import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { bytes, now } from './statements.ts'
import { statementsIn, type Transactions } from './transactions.ts'

const insertMessage = `INSERT INTO main.justonce_outbox (id, envelope, body, state, attempts, next_at)
  VALUES (?, ?, ?, 'pending', 0, 0) ON CONFLICT DO NOTHING`
const due = `SELECT sequence FROM main.justonce_outbox WHERE state = 'pending' AND next_at <= ${now} ORDER BY sequence LIMIT ?`
const leaseDue = `UPDATE main.justonce_outbox SET lease = ?, next_at = ${now} + ? WHERE sequence IN (${due})
  RETURNING sequence, id, envelope, body, attempts`
const deleteLeased = `DELETE FROM main.justonce_outbox WHERE id = ? AND lease = ?`
const failLeased = `UPDATE main.justonce_outbox SET lease = NULL, attempts = attempts + 1, state = ?, next_at = ${now} + ?,
  error = ? WHERE id = ? AND lease = ?`
const countByState = `SELECT count(*) FILTER (WHERE state = 'pending') AS pending,
  count(*) FILTER (WHERE state = 'dead') AS dead FROM main.justonce_outbox`

interface OutboxRow {
  readonly sequence: number
  readonly id: string
  readonly envelope: Uint8Array
  readonly body: Uint8Array
  readonly attempts: number
}

export function sqliteOutbox<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Outbox<Database> {
  return {
    async append(tx, messages) {
      const statements = statementsIn(tx)
      for (const { id, message } of messages) statements.run(insertMessage, id, message.envelope, message.body)
    },
    async lease(limit, leaseMs) {
      // Mostly there is nothing to send, and then nobody should have to wait for the write lock.
      if ((await reader.read((statements) => statements.get(due, 1))) === undefined) return []
      const lease = randomUUID()
      const rows = await transactions.short((statements) =>
        statements.all<OutboxRow>(leaseDue, lease, Math.ceil(leaseMs), limit),
      )
      return rows.sort((a, b) => a.sequence - b.sequence).map((row) => leasedMessage(row, lease))
    },
    markSent: (messages) =>
      transactions.short((statements) => {
        let sent = 0
        for (const { id, lease } of messages) sent += statements.run(deleteLeased, id, lease)
        return sent
      }),
    markFailed: (messages, { delayMs, error, dead }) =>
      transactions.short((statements) => {
        const state = dead ? 'dead' : 'pending'
        for (const { id, lease } of messages) statements.run(failLeased, state, Math.ceil(delayMs), error, id, lease)
      }),
    count: () =>
      reader.read((statements) => {
        const { pending, dead } = statements.get<{ pending: number; dead: number }>(countByState) ?? NONE
        return { pending, dead }
      }),
  }
}

const NONE = { pending: 0, dead: 0 }

function leasedMessage({ id, envelope, body, attempts }: OutboxRow, lease: string): LeasedMessage {
  return { id, lease, attempts, message: { envelope: bytes(envelope), body: bytes(body) } }
}
