import type { BehindOptions, ParkedTicket, Parking } from '../../contracts/index.ts'
import { listSql, tallySql } from '../sql/parked-letters.ts'
import { parkedColumns, tallyIn } from '../sql/rows.ts'
import { withinBytes } from '../sql/within-bytes.ts'
import { nameOf } from './claim.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { dialect, place } from './dialect.ts'
import { type Cell, integer, numberIn, textIn } from './literals-and-cells.ts'
import { lockMatching } from './lock-matching.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { lockScopes } from './order-scopes.ts'
import {
  changeRow,
  editSql,
  insertColumns,
  type KeptChange,
  laterMs,
  parkedValues,
  scopeBehind,
  selectBehind,
  selectBlocked,
  selectDeadBehind,
  selectDue,
  selectFirst,
  updateChanged,
} from './parking-statements.ts'
import { parkedIn } from './rows.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByKey, foundByValue, inChunks, inGroups } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export function mysqlParking<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  tables: Tables,
): Parking<Native> {
  const { parked } = tables
  /** Finds rows only by their sequences, because a statement that reads all rows locks them all, if only for a moment. */
  const known = (rows: readonly { readonly sequence: number }[]) =>
    foundByValue(
      parked,
      'sequence',
      rows.map(({ sequence }) => String(sequence)),
    )
  const reserved = async (runner: Runner, chosen: readonly { readonly sequence: number }[], forMs: number) => {
    if (chosen.length === 0) return []
    const list = chosen.map(({ sequence }) => sequence).join(', ')
    await runner.run(
      `UPDATE ${known(chosen)} SET known.revision = known.revision + 1, known.next_at = ${laterMs(forMs)}`,
    )
    const { rows } = await runner.run(`SELECT ${parkedColumns(dialect)} FROM ${parked} WHERE sequence IN (${list})`)
    const places = new Map(chosen.map(({ sequence }, place) => [sequence, place]))
    const placeOf = ({ sequence }: { readonly sequence: number }) => places.get(sequence) ?? 0
    return rows.map(parkedIn).sort((a, b) => placeOf(a) - placeOf(b))
  }
  const reserveBehind = (options: BehindOptions) =>
    short.run(async (runner) => {
      const [held] = await lockUnchanged(runner, parked, [options.behind])
      if (held === undefined) return []
      const { rows } = await runner.run(`SELECT order_key FROM ${parked} WHERE sequence = ${integer(held.sequence)}`)
      const orderKey = rows[0]?.[0]
      if (orderKey === undefined || orderKey === null) return []
      const scope = scopeBehind(options.behind.handler, textIn(orderKey), held.sequence)
      const near = sizedIn(await runner.run(selectBehind(tables, scope, options.limit)))
      if (near.length === 0) return []
      const free = sequencesIn(await runner.run(`SELECT known.sequence FROM ${known(near)} FOR UPDATE SKIP LOCKED`))
      const dead = options.pastDead ? undefined : (await runner.run(selectDeadBehind(tables, scope))).rows[0]?.[0]
      const firstDead = dead === undefined || dead === null ? Number.POSITIVE_INFINITY : numberIn(dead)
      const end = near.findIndex(({ sequence, isNext }) => !isNext || !free.includes(sequence) || sequence > firstDead)
      const directly = end === -1 ? near : near.slice(0, end)
      return await reserved(runner, withinBytes(directly, options.maxBytes), options.forMs)
    })
  return {
    async park(tx, messages) {
      const runner = transactions.runner(tx)
      for (const chunk of inChunks(messages.map(parkedValues)))
        await runner.run(
          `INSERT INTO ${parked} (${insertColumns}) VALUES ${chunk.join(', ')} ON DUPLICATE KEY UPDATE step = ${parked}.step`,
        )
    },
    async reserve(options) {
      if (options.behind !== undefined) return await reserveBehind(options)
      if (options.limit <= 0 || options.wanted.length === 0) return []
      // While there is nothing to do, this needs no lock and no transaction.
      if ((await short.read(selectDue(tables, { ...options, limit: 1 }))).length === 0) return []
      return await short.run(async (runner) => {
        const locked = sequencesIn(await runner.run(`${selectDue(tables, options)} FOR UPDATE SKIP LOCKED`))
        if (locked.length === 0) return []
        const first = sizedIn(await runner.run(selectFirst(tables, options, locked)))
        return await reserved(runner, withinBytes(first, options.maxBytes), options.forMs)
      })
    },
    async rebook(bookings, forMs) {
      if (bookings.length === 0) return []
      return await short.run(async (runner) => {
        const held = await lockUnchanged(runner, parked, bookings)
        const begunOf = new Map(bookings.map((booking) => [nameOf(booking), booking.begun]))
        for (const [begun, some] of Map.groupBy(held, ({ name }) => begunOf.get(name)))
          await runner.run(
            `UPDATE ${known(some)} SET known.begun = ${integer(begun)}, known.revision = known.revision + 1,
               known.next_at = ${laterMs(forMs)}`,
          )
        const names = new Set(held.map(({ name }) => name))
        return bookings.map((booking) => (names.has(nameOf(booking)) ? booking.revision + 1 : undefined))
      })
    },
    async take(tx, tickets) {
      const held = await lockUnchanged(transactions.get(tx), parked, tickets)
      const names = new Set(held.map(({ name }) => name))
      return tickets.map((ticket) => names.has(nameOf(ticket)))
    },
    async change(tx, changes) {
      const runner = transactions.runner(tx)
      const done = changes.filter(({ kind }) => kind === 'done')
      const kept = changes.filter((change): change is KeptChange => change.kind !== 'done')
      for (const group of inGroups(done))
        await runner.run(`DELETE known FROM ${foundByKey(parked, 'parked_key', group)}`)
      for (const chunk of inChunks(kept.map((change) => JSON.stringify(changeRow(change)))))
        await runner.run(
          updateChanged(
            tables,
            chunk.map((row) => JSON.parse(row) as string[]),
          ),
        )
    },
    async blocked(tx, scopes) {
      if (scopes.length === 0) return []
      const runner = transactions.get(tx)
      await lockScopes(runner, tables, scopes)
      // A separate statement after the lock, so that it sees what the previous holder has committed.
      const answers: boolean[] = []
      for (let from = 0; from < scopes.length; from += 500) {
        const { rows } = await runner.run(selectBlocked(tables, scopes.slice(from, from + 500)))
        answers.push(...(rows[0] ?? []).map((cell) => textIn(cell) === '1'))
      }
      return answers
    },
    async list(filter, page) {
      return (await short.read(listSql(dialect, { table: parked, filter }, page, place))).map(parkedIn)
    },
    async tally(filter, by, limit) {
      const rows = await short.read(tallySql(dialect, { table: parked, filter }, { by, limit }, place))
      return rows.map(tallyIn(by))
    },
    async edit(tx, filter, edit, limit) {
      const runner = transactions.runner(tx)
      const rows = await lockMatching(runner, parked, filter, limit)
      const sequences = rows.map(({ sequence }) => sequence)
      // Messages are long, and one statement must fit into a packet.
      for (const group of edit.kind === 'replace' ? sequences.map((sequence) => [sequence]) : inGroups(sequences))
        await runner.run(editSql(parked, edit, group))
      return rows.map(({ handler, key }) => ({ handler, key }))
    },
  }
}

function sequencesIn({ rows }: { readonly rows: readonly (readonly Cell[])[] }): number[] {
  return rows.map(([sequence]) => numberIn(sequence))
}

/** Reads the rows of a statement that returns sequence, bytes and possibly whether the row is next. */
function sizedIn({ rows }: { readonly rows: readonly (readonly Cell[])[] }) {
  return rows.map(([sequence, bytes, isNext]) => ({
    sequence: numberIn(sequence),
    bytes: numberIn(bytes),
    isNext: isNext !== undefined && isNext !== null && textIn(isNext) === '1',
  }))
}

/** Locks the rows that are unchanged since they were read and that nobody else holds. */
async function lockUnchanged(
  runner: Runner,
  parked: string,
  tickets: readonly ParkedTicket[],
): Promise<{ readonly sequence: number; readonly name: string }[]> {
  const held: { readonly sequence: number; readonly name: string }[] = []
  for (const group of inGroups(tickets)) {
    const { rows } = await runner.run(
      `SELECT known.sequence, known.handler, known.\`key\`, known.revision
       FROM ${foundByKey(parked, 'parked_key', group)} FOR UPDATE SKIP LOCKED`,
    )
    const revisions = new Map(group.map((ticket) => [nameOf(ticket), ticket.revision]))
    for (const [sequence, handler, key, revision] of rows) {
      const name = nameOf({ handler: textIn(handler), key: textIn(key) })
      if (revisions.get(name) === numberIn(revision)) held.push({ sequence: numberIn(sequence), name })
    }
  }
  return held
}
