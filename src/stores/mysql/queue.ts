import { longestHiddenMs } from '../../clock/index.ts'
import type { Queue, QueueTicket } from '../../contracts/index.ts'
import { goneFrom, JustonceError, takenByAnother } from '../../errors/index.ts'
import { laneOf } from '../sql/lane-of.ts'
import { partsOfTicket, sortTickets } from '../sql/queue-ticket.ts'
import { listedRows } from '../sql/rows.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { dialect } from './dialect.ts'
import { bytes, digits, integer, nowMs, numberIn, textIn } from './literals-and-cells.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { laterMs } from './parking-statements.ts'
import { listedIn, queuedIn } from './rows.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByValue, givenRows, inChunks, keyValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

interface Due {
  readonly sequence: number
  /** As text, because a hash may be larger than a number can hold. */
  readonly lane: string | undefined
  readonly bytes: number
  /** Before it is taken. */
  readonly deliveries: number
}

/** A message without a delay must not wait for a clock that was ahead when it was stored. */
const atOnce = 0

/** How many rows one statement shortens. */
const mostAtOnce = 1_000

/** MySQL cannot notify anyone of messages that others have sent, so takers poll. */
export function mysqlQueue<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  { queue: table }: Tables,
): Queue<Native> {
  const inOne = <T>(tx: Native | undefined, work: (runner: Runner) => Promise<T>): Promise<T> =>
    tx === undefined ? short.run(work) : work(transactions.runner(tx))
  // Skips messages behind a hidden one of their lane, so that a long row of them does not use up the limit.
  const due = (queue: string, limit: number) =>
    `SELECT sequence, lane, LENGTH(\`body\`), deliveries FROM ${table} AS visible FORCE INDEX (queue_order)
     WHERE queue = ${keyValue(queue)} AND visible_at <= ${nowMs}
       AND (lane IS NULL OR NOT EXISTS (
              SELECT 1 FROM ${table} AS hidden FORCE INDEX (queue_lanes)
              WHERE hidden.queue = ${keyValue(queue)} AND hidden.lane = visible.lane AND hidden.sequence < visible.sequence
                AND hidden.visible_at > ${nowMs}))
     ORDER BY sequence LIMIT ${integer(limit)}`
  // Only the oldest is asked, so that it costs one lookup: in the end, any that stays hidden is the oldest.
  const oldestIfStuck = (queue: string, longest: string) =>
    `SELECT NULL, NULL, 0, 0 FROM (SELECT visible_at FROM ${table} FORCE INDEX (queue_order)
       WHERE queue = ${keyValue(queue)} ORDER BY sequence LIMIT 1) AS oldest WHERE visible_at > ${longest}`

  return {
    async send(tx, queue, messages) {
      if (messages.length === 0) return
      const rows = messages.map(
        ({ key, message }) =>
          `(${keyValue(queue)}, ${key === undefined ? 'NULL' : laneOf(key)}, ${atOnce}, ${nowMs}, ${bytes(message.envelope)}, ${bytes(message.body)})`,
      )
      await inOne(tx, async (runner) => {
        for (const chunk of inChunks(rows))
          await runner.run(
            `INSERT INTO ${table} (queue, lane, visible_at, sent_at, envelope, \`body\`) VALUES ${chunk.join(', ')}`,
          )
      })
    },
    async take(queue, { limit, visibilityMs, maxBytes = Number.POSITIVE_INFINITY }) {
      if (limit <= 0) return []
      const longest = laterMs(longestHiddenMs(visibilityMs))
      const looked = await short.read(`(${due(queue, 1)}) UNION ALL (${oldestIfStuck(queue, longest)})`)
      if (looked.some(([sequence]) => sequence === null)) await shorten(queue, longest)
      if (looked.every(([sequence]) => sequence === null)) return []
      return await short.run(async (runner) => {
        const { rows } = await runner.run(`${due(queue, limit)} FOR UPDATE SKIP LOCKED`)
        const unbroken = await withoutBroken(
          runner,
          queue,
          rows.map(([sequence, lane, size, deliveries]) => ({
            sequence: numberIn(sequence),
            lane: lane?.toString('latin1'),
            bytes: numberIn(size),
            deliveries: numberIn(deliveries),
          })),
        )
        const chosen = fitting(unbroken, maxBytes)
        if (chosen.length === 0) return []
        const list = chosen.map(({ sequence }) => String(sequence))
        await runner.run(
          `UPDATE ${foundByValue(table, 'sequence', list)}
           SET known.visible_at = ${laterMs(visibilityMs)}, known.deliveries = known.deliveries + 1`,
        )
        const taken = await runner.run(
          `SELECT sequence, sent_at, deliveries, envelope, \`body\` FROM ${table} WHERE sequence IN (${list.join(', ')}) ORDER BY sequence`,
        )
        return taken.rows.map(queuedIn).map((message, place) => {
          if (message.deliveries === chosen[place]?.deliveries) throw notTaken()
          return message
        })
      })
    },
    async remove(tx, queue, tickets, still) {
      const isTaken = still !== undefined && 'deliveries' in still
      const { loose, strict, kept } = sortTickets(tickets, isTaken ? undefined : still?.present)
      const taken = isTaken ? `AND known.deliveries = ${integer(still.deliveries)}` : ''
      if (loose.length + strict.length + kept.length === 0) return
      await inOne(tx, async (runner) => {
        if (kept.length > 0 && (await runner.run(`SELECT 1 ${rowsOf(queue, kept)}`)).rows.length < kept.length)
          throw goneFrom(queue)
        for (const each of [loose, strict]) {
          if (each.length === 0) continue
          const { count } = await runner.run(`DELETE known ${rowsOf(queue, each)} ${taken}`)
          if (each === strict && count < each.length) throw goneFrom(queue)
          if (isTaken && count < each.length) throw takenByAnother(queue)
        }
      })
    },
    async hide(queue, taken, visibilityMs, { untaken = false } = {}) {
      const visibleAt = visibilityMs === 0 ? atOnce : laterMs(visibilityMs)
      await change(
        queue,
        taken,
        `known.visible_at = ${visibleAt}, known.deliveries = known.deliveries - ${untaken ? 1 : 0}`,
      )
    },
    async count(queue) {
      const rows = await short.read(
        `SELECT COALESCE(SUM(visible_at <= ${nowMs}), 0), COALESCE(SUM(visible_at > ${nowMs}), 0), ${nowMs} - MIN(sent_at)
         FROM ${table} WHERE queue = ${keyValue(queue)}`,
      )
      const [ready, hidden, oldest] = rows[0] ?? []
      return {
        ready: numberIn(ready),
        hidden: numberIn(hidden),
        oldestMs: oldest == null ? undefined : numberIn(oldest),
      }
    },
    async list(queue, { limit, after = '0', maxBytes = Number.MAX_SAFE_INTEGER }) {
      const rows = `SELECT * FROM ${table} FORCE INDEX (queue_order)
        WHERE queue = ${keyValue(queue)} AND sequence > ${digits(partsOfTicket(after)[0])} ORDER BY sequence LIMIT ${integer(limit)}`
      const page = `${listedRows(dialect, rows, 'sent_at')} WHERE bytes_before < ${integer(maxBytes)} ORDER BY sequence`
      return (await short.read(page)).map(listedIn)
    },
    async queues() {
      const rows = await short.read(`SELECT DISTINCT queue FROM ${table} FORCE INDEX (queue_order)`)
      return rows.map(([queue]) => textIn(queue))
    },
  }

  function rowsOf(queue: string, tickets: readonly string[]): string {
    const rows = tickets.map((ticket) => partsOfTicket(ticket).map(digits))
    return `FROM ${givenRows(['sequence', 'sent_at'], rows)} STRAIGHT_JOIN ${table} AS known FORCE INDEX (PRIMARY)
      ON known.sequence = given.sequence AND known.sent_at = given.sent_at AND known.queue = ${keyValue(queue)}`
  }

  async function change(queue: string, taken: readonly QueueTicket[], changes: string): Promise<void> {
    if (taken.length === 0) return
    const rows = taken.map(({ ticket, deliveries }) => [...partsOfTicket(ticket).map(digits), integer(deliveries)])
    await short.run((runner) =>
      runner.run(
        `UPDATE ${givenRows(['sequence', 'sent_at', 'deliveries'], rows)}
           STRAIGHT_JOIN ${table} AS known FORCE INDEX (PRIMARY)
           ON known.sequence = given.sequence AND known.sent_at = given.sent_at AND known.deliveries = given.deliveries
             AND known.queue = ${keyValue(queue)}
         SET ${changes}`,
      ),
    )
  }

  /** Never waits: what somebody else has locked is renewed or removed by that. In steps, because there may be any number of them. */
  async function shorten(queue: string, longest: string): Promise<void> {
    let changed = mostAtOnce
    while (changed === mostAtOnce)
      changed = await short.run(async (runner) => {
        const { rows } = await runner.run(
          `SELECT sequence FROM ${table} FORCE INDEX (queue_order)
           WHERE queue = ${keyValue(queue)} AND visible_at > ${longest} LIMIT ${mostAtOnce} FOR UPDATE SKIP LOCKED`,
        )
        const list = rows.map(([sequence]) => String(numberIn(sequence)))
        if (list.length > 0)
          await runner.run(`UPDATE ${foundByValue(table, 'sequence', list)} SET known.visible_at = ${longest}`)
        return list.length
      })
  }

  /** Leaves out messages behind one that another process is taking: that one was skipped, or has changed since. */
  async function withoutBroken(runner: Runner, queue: string, found: readonly Due[]): Promise<readonly Due[]> {
    const lanes = [...new Set(found.flatMap(({ lane }) => (lane === undefined ? [] : [lane])))]
    if (lanes.length === 0) return found
    const ours = found.map(({ sequence }) => sequence)
    const { rows } = await runner.run(
      `SELECT lane, MIN(sequence) FROM ${table} FORCE INDEX (queue_lanes)
       WHERE queue = ${keyValue(queue)} AND lane IN (${lanes.join(', ')}) AND sequence < ${Math.max(...ours)}
         AND sequence NOT IN (${ours.join(', ')}) GROUP BY lane`,
    )
    const broken = new Map(rows.map(([lane, sequence]) => [textIn(lane), numberIn(sequence)]))
    return found.filter(
      ({ sequence, lane }) => lane === undefined || sequence < (broken.get(lane) ?? Number.POSITIVE_INFINITY),
    )
  }
}

/** As many as fit, from the first on, and always the first. */
function fitting(found: readonly Due[], maxBytes: number): readonly Due[] {
  let total = 0
  const end = found.findIndex(({ bytes: size }, place) => {
    total += size
    return place > 0 && total > maxBytes
  })
  return end < 0 ? found : found.slice(0, end)
}

/** Otherwise everybody would take the same messages, for ever. */
function notTaken(): JustonceError {
  return new JustonceError('STORE_DENIED', {
    message:
      'MySQL reported no error, but a message was not taken: a trigger on justonce_queue keeps the store from it.',
  })
}
