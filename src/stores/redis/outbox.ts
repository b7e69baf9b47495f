import { randomBytes } from 'node:crypto'
import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { text } from './connection.ts'
import { deadScript, failedScript, leaseScript, releaseScript, reviveScript, sentScript } from './scripts/outbox.ts'
import type { Transactions } from './transactions.ts'

export function redisOutbox<Tx extends object>({ connection, factory }: Transactions<Tx>): Outbox<Tx> {
  // A lease is the row and who has leased it.
  const pairs = (messages: readonly LeasedMessage[]) => messages.flatMap(({ lease }) => lease.split('.'))
  return {
    async append(tx, messages) {
      const { steps } = factory.transactionOf(tx)
      for (const message of messages) steps.push({ kind: 'append', message })
    },
    async lease(limit, leaseMs, maxBytes = Number.MAX_SAFE_INTEGER) {
      const lease = randomBytes(9).toString('base64url')
      const rows = (await connection.run(leaseScript, limit, Math.ceil(leaseMs), lease, maxBytes)) as unknown[][]
      return rows.map(([row, id, attempts, envelope, body]) => ({
        id: text(id),
        lease: `${text(row)}.${lease}`,
        attempts: Number(attempts),
        message: { envelope: bytes(envelope), body: bytes(body) },
      }))
    },
    async markSent(messages) {
      if (messages.length === 0) return 0
      return Number(await connection.run(sentScript, ...pairs(messages)))
    },
    async markFailed(messages, { delayMs, error, dead }) {
      if (messages.length === 0) return
      await connection.run(failedScript, Math.ceil(delayMs), error, dead ? 1 : 0, ...pairs(messages))
    },
    async release(messages) {
      if (messages.length > 0) await connection.run(releaseScript, ...pairs(messages))
    },
    async listDead(limit) {
      const rows = (await connection.run(deadScript, limit)) as unknown[][]
      return rows.map(([id, attempts, error, envelope, body]) => ({
        id: text(id),
        attempts: Number(attempts),
        error: text(error),
        message: { envelope: bytes(envelope), body: bytes(body) },
      }))
    },
    async retryDead(ids) {
      return Number(await connection.run(reviveScript, ids === undefined ? 1 : 0, ...(ids ?? [])))
    },
    async count() {
      const [pending, dead] = await Promise.all([
        connection.call('GET', `${connection.prefix}outbox-pending`),
        connection.call('ZCARD', `${connection.prefix}outbox-dead`),
      ])
      return { pending: Number(text(pending ?? '0')), dead: Number(dead) }
    },
  }
}

function bytes(value: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(text(value), 'base64'))
}
