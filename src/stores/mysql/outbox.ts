import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { bytes, digits, integer, nowMs, numberIn, textIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { laterMs } from './parking-statements.ts'
import { leasedIn } from './rows.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { givenRows, inChunks } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export function mysqlOutbox<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  { outbox }: Tables,
): Outbox<Native> {
  return {
    async append(tx, messages) {
      const rows = messages.map(
        ({ id, message }) => `(${bytes(id)}, ${nowMs}, ${bytes(message.envelope)}, ${bytes(message.body)})`,
      )
      for (const chunk of inChunks(rows))
        await transactions
          .runner(tx)
          .run(`INSERT INTO ${outbox} (id, next_at, envelope, body) VALUES ${chunk.join(', ')}`)
    },
    async lease(limit, leaseMs) {
      const due = `SELECT seq FROM ${outbox} FORCE INDEX (outbox_pending) WHERE state = 'pending' AND next_at <= ${nowMs}
        ORDER BY seq LIMIT`
      if ((await short.read(`${due} 1`)).length === 0) return []
      return await short.run(async (runner) => {
        const { rows } = await runner.run(`${due} ${integer(limit)} FOR UPDATE SKIP LOCKED`)
        if (rows.length === 0) return []
        const list = rows.map(([seq]) => numberIn(seq)).join(', ')
        await runner.run(`UPDATE ${outbox} SET next_at = ${laterMs(leaseMs)}, lease = lease + 1 WHERE seq IN (${list})`)
        const leased = await runner.run(
          `SELECT seq, lease, id, attempts, envelope, body FROM ${outbox} WHERE seq IN (${list}) ORDER BY seq`,
        )
        return leased.rows.map(leasedIn)
      })
    },
    async markSent(messages) {
      if (messages.length === 0) return 0
      return (await short.run((runner) => runner.run(`DELETE known FROM ${stillHeld(outbox, messages)}`))).count
    },
    async markFailed(messages, { delayMs, error, dead }) {
      if (messages.length === 0) return
      await short.run((runner) =>
        runner.run(
          `UPDATE ${stillHeld(outbox, messages)}
           SET known.attempts = known.attempts + 1, known.lease = known.lease + 1, known.error = ${bytes(error)},
             known.state = '${dead ? 'dead' : 'pending'}', known.next_at = ${laterMs(delayMs)}`,
        ),
      )
    },
    async count() {
      const rows = await short.read(`SELECT state, COUNT(*) FROM ${outbox} GROUP BY state`)
      const counts = new Map(rows.map(([state, count]) => [textIn(state), numberIn(count)]))
      return { pending: counts.get('pending') ?? 0, dead: counts.get('dead') ?? 0 }
    },
  }
}

/** A lease is the row and how often it was leased, so that it holds only until the next one. */
function stillHeld(outbox: string, messages: readonly LeasedMessage[]): string {
  const held = messages.map(({ lease }) => lease.split('.').map(digits))
  return `${givenRows(['seq', 'lease'], held)} STRAIGHT_JOIN ${outbox} AS known FORCE INDEX (PRIMARY)
    ON known.seq = given.seq AND known.lease = given.lease`
}
