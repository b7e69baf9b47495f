import { randomUUID } from 'node:crypto'
import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { laneOf } from '../sql/lane-of.ts'
import { withinBytes } from '../sql/within-bytes.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { bytes, now } from './statements.ts'
import { statementsIn, type Transactions } from './transactions.ts'

const insertMessage = `INSERT INTO main.justonce_outbox (id, lane, envelope, body, state, attempts, next_at)
  VALUES (?, ?, ?, ?, 'pending', 0, 0)`
const due = `SELECT sequence, length(envelope) + length(body) AS bytes FROM main.justonce_outbox AS next WHERE state = 'pending' AND next_at <= ${now}
  AND (lane IS NULL OR NOT EXISTS (SELECT 1 FROM main.justonce_outbox AS earlier WHERE earlier.state = 'pending'
    AND earlier.lane = next.lane AND earlier.sequence < next.sequence AND earlier.next_at > ${now}))
  ORDER BY sequence LIMIT ?`
const leaseOne = `UPDATE main.justonce_outbox SET lease = ?, next_at = ${now} + ? WHERE sequence = ?
  RETURNING sequence, id, envelope, body, attempts`
const deleteLeased = `DELETE FROM main.justonce_outbox WHERE sequence = ? AND lease = ?`
const failLeased = `UPDATE main.justonce_outbox SET lease = NULL, attempts = attempts + 1, state = ?, next_at = ${now} + ?,
  error = ? WHERE sequence = ? AND lease = ?`
const releaseLeased = `UPDATE main.justonce_outbox SET lease = NULL, next_at = 0 WHERE sequence = ? AND lease = ?`
const selectDead = `SELECT id, envelope, body, attempts, error FROM main.justonce_outbox WHERE state = 'dead'
  ORDER BY sequence LIMIT ?`
const revive = `UPDATE main.justonce_outbox SET state = 'pending', attempts = 0, next_at = 0 WHERE state = 'dead'`
const countByState = `SELECT count(*) FILTER (WHERE state = 'pending') AS pending,
  count(*) FILTER (WHERE state = 'dead') AS dead FROM main.justonce_outbox`

interface Due {
  readonly sequence: number
  readonly bytes: number
}

interface OutboxRow {
  readonly sequence: number
  readonly id: string
  readonly envelope: Uint8Array
  readonly body: Uint8Array
  readonly attempts: number
}

interface DeadRow extends Omit<OutboxRow, 'sequence'> {
  readonly error: string
}

export function sqliteOutbox<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Outbox<Database> {
  return {
    async append(tx, messages) {
      const statements = statementsIn(tx)
      for (const { id, key, message } of messages) {
        const lane = key === undefined ? null : laneOf(key)
        statements.run(insertMessage, id, lane, message.envelope, message.body)
      }
    },
    async lease(limit, leaseMs, maxBytes = Number.POSITIVE_INFINITY) {
      // Mostly there is nothing to send, and then nobody should have to wait for the write lock.
      if ((await reader.read((statements) => statements.get(due, 1))) === undefined) return []
      const lease = randomUUID()
      return await transactions.short((statements) =>
        withinBytes(statements.all<Due>(due, limit), maxBytes).map(({ sequence }) => {
          const row = statements.get<OutboxRow>(leaseOne, lease, Math.ceil(leaseMs), sequence) as OutboxRow
          return leasedMessage(row, lease)
        }),
      )
    },
    markSent: (messages) =>
      transactions.short((statements) => {
        let sent = 0
        for (const message of messages) sent += statements.run(deleteLeased, ...placeOf(message))
        return sent
      }),
    markFailed: (messages, { delayMs, error, dead }) =>
      transactions.short((statements) => {
        const state = dead ? 'dead' : 'pending'
        for (const message of messages)
          statements.run(failLeased, state, Math.ceil(delayMs), error, ...placeOf(message))
      }),
    release: (messages) =>
      transactions.short((statements) => {
        for (const message of messages) statements.run(releaseLeased, ...placeOf(message))
      }),
    listDead: (limit) =>
      reader.read((statements) =>
        statements.all<DeadRow>(selectDead, limit).map(({ id, envelope, body, attempts, error }) => ({
          id,
          attempts,
          error,
          message: { envelope: bytes(envelope), body: bytes(body) },
        })),
      ),
    retryDead: (ids) =>
      transactions.short((statements) => {
        if (ids === undefined) return statements.run(revive)
        let revived = 0
        for (const id of ids) revived += statements.run(`${revive} AND id = ?`, id)
        return revived
      }),
    count: () =>
      reader.read((statements) => {
        const { pending, dead } = statements.get<{ pending: number; dead: number }>(countByState) ?? NONE
        return { pending, dead }
      }),
  }
}

const NONE = { pending: 0, dead: 0 }

/** The row, because several may have one id, and who has leased it. */
function placeOf({ lease }: LeasedMessage): [sequence: number, lease: string] {
  const dot = lease.indexOf('.')
  return [Number(lease.slice(0, dot)), lease.slice(dot + 1)]
}

function leasedMessage({ sequence, id, envelope, body, attempts }: OutboxRow, lease: string): LeasedMessage {
  return { id, lease: `${sequence}.${lease}`, attempts, message: { envelope: bytes(envelope), body: bytes(body) } }
}
