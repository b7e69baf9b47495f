import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { laneOf } from '../sql/lane-of.ts'
import { withinBytes } from '../sql/within-bytes.ts'
import { bytes, digits, integer, nowMs, numberIn, textIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { laterMs } from './parking-statements.ts'
import { deadIn, leasedIn } from './rows.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { givenRows, inChunks } from './statement-parts.ts'
import type { Tables } from './tables.ts'

interface Due {
  readonly seq: number
  /** As text: a hash may be larger than a number can hold. */
  readonly lane: string | undefined
  readonly bytes: number
}

export function mysqlOutbox<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  { outbox }: Tables,
): Outbox<Native> {
  return {
    async append(tx, messages) {
      const rows = messages.map(
        ({ id, key, message }) =>
          `(${bytes(id)}, ${key === undefined ? 'NULL' : laneOf(key)}, ${nowMs}, ${bytes(message.envelope)}, ${bytes(message.body)})`,
      )
      for (const chunk of inChunks(rows))
        await transactions
          .runner(tx)
          .run(`INSERT INTO ${outbox} (id, lane, next_at, envelope, body) VALUES ${chunk.join(', ')}`)
    },
    async lease(limit, leaseMs, maxBytes = Number.POSITIVE_INFINITY) {
      // Leaves out what stands behind one that waits, so that a long row of them does not use up the limit.
      const due = `SELECT seq, lane, OCTET_LENGTH(envelope) + OCTET_LENGTH(body) FROM ${outbox} AS ready FORCE INDEX (outbox_pending)
        WHERE state = 'pending' AND next_at <= ${nowMs}
          AND (lane IS NULL OR NOT EXISTS (
                 SELECT 1 FROM ${outbox} AS waiting FORCE INDEX (outbox_lanes)
                 WHERE waiting.lane = ready.lane AND waiting.state = 'pending' AND waiting.seq < ready.seq
                   AND waiting.next_at > ${nowMs}))
        ORDER BY seq LIMIT`
      if ((await short.read(`${due} 1`)).length === 0) return []
      return await short.run(async (runner) => {
        const { rows } = await runner.run(`${due} ${integer(limit)} FOR UPDATE SKIP LOCKED`)
        const found = rows.map(([seq, lane, bytes]) => ({
          seq: numberIn(seq),
          lane: lane?.toString('latin1'),
          bytes: numberIn(bytes),
        }))
        const chosen = withinBytes(await withoutBroken(runner, outbox, found), maxBytes)
        if (chosen.length === 0) return []
        const list = chosen.map(({ seq }) => seq).join(', ')
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
    async release(messages) {
      if (messages.length === 0) return
      await short.run((runner) =>
        runner.run(`UPDATE ${stillHeld(outbox, messages)} SET known.lease = known.lease + 1, known.next_at = ${nowMs}`),
      )
    },
    async listDead(limit) {
      const rows = await short.read(
        `SELECT id, attempts, error, envelope, body FROM ${outbox} WHERE state = 'dead' ORDER BY seq LIMIT ${integer(limit)}`,
      )
      return rows.map(deadIn)
    },
    async retryDead(ids) {
      if (ids?.length === 0) return 0
      const named = ids === undefined ? '' : `AND id IN (${ids.map(bytes).join(', ')})`
      const revived = await short.run((runner) =>
        runner.run(
          `UPDATE ${outbox} SET state = 'pending', attempts = 0, lease = lease + 1, next_at = ${nowMs}
           WHERE state = 'dead' ${named}`,
        ),
      )
      return revived.count
    },
    async count() {
      const rows = await short.read(`SELECT state, COUNT(*) FROM ${outbox} GROUP BY state`)
      const counts = new Map(rows.map(([state, count]) => [textIn(state), numberIn(count)]))
      return { pending: counts.get('pending') ?? 0, dead: counts.get('dead') ?? 0 }
    },
  }
}

/** Leaves out what stands behind one that a rival is just leasing: it was skipped, or has changed since. */
async function withoutBroken(runner: Runner, outbox: string, found: readonly Due[]): Promise<readonly Due[]> {
  const lanes = [...new Set(found.flatMap(({ lane }) => (lane === undefined ? [] : [lane])))]
  if (lanes.length === 0) return found
  const ours = found.map(({ seq }) => seq)
  const { rows } = await runner.run(
    `SELECT lane, MIN(seq) FROM ${outbox} FORCE INDEX (outbox_lanes)
     WHERE lane IN (${lanes.join(', ')}) AND state = 'pending' AND seq < ${Math.max(...ours)}
       AND seq NOT IN (${ours.join(', ')}) GROUP BY lane`,
  )
  const broken = new Map(rows.map(([lane, seq]) => [textIn(lane), numberIn(seq)]))
  return found.filter(({ seq, lane }) => lane === undefined || seq < (broken.get(lane) ?? Number.POSITIVE_INFINITY))
}

/** A lease is the row and how often it was leased, so that it holds only until the next one. */
function stillHeld(outbox: string, messages: readonly LeasedMessage[]): string {
  const held = messages.map(({ lease }) => lease.split('.').map(digits))
  return `${givenRows(['seq', 'lease'], held)} STRAIGHT_JOIN ${outbox} AS known FORCE INDEX (PRIMARY)
    ON known.seq = given.seq AND known.lease = given.lease`
}
