import type { BehindOptions, OrderScope, ParkedTicket, Parking } from '../../../contracts/index.ts'
import { conditionOf, editedColumns, listSql, tallySql } from '../../sql/parked-letters.ts'
import { tallyIn } from '../../sql/rows.ts'
import { splitWanted } from '../../sql/split-wanted.ts'
import type { Answer, Connections } from '../connection.ts'
import { dialect, placing } from '../dialect.ts'
import { keyArrays } from '../inbox/record-rows.ts'
import { parkedIn } from '../rows.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { booleanArray, bytesArray, type Cell, numberArray, textArray, textIn } from '../values-as-text.ts'
import { parkingStatements } from './parking-statements.ts'

export function postgresParking<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  tables: Tables,
): Parking<Tx> {
  const statements = parkingStatements(tables)
  const { parked: table } = tables
  return {
    async park(tx, messages) {
      if (messages.length === 0) return
      const texts = (pick: (message: (typeof messages)[number]) => string | undefined) => textArray(messages.map(pick))
      const keys = keyArrays(messages)
      const values = [
        ...keys,
        texts(({ messageId }) => messageId),
        texts(({ type }) => type),
        texts(({ source }) => source),
        texts(({ state }) => state),
        texts(({ reason }) => reason),
        texts(({ errors }) => errors),
        texts(({ shape }) => shape),
        numberArray(messages.map(({ attempts }) => attempts)),
        numberArray(messages.map(({ step }) => step)),
        booleanArray(messages.map(({ independent }) => independent)),
        texts(({ orderKey }) => orderKey),
        numberArray(messages.map(({ delayMs }) => delayMs)),
        bytesArray(messages.map(({ message }) => message.envelope)),
        bytesArray(messages.map(({ message }) => message.body)),
        texts(({ redrive }) => redrive),
        bytesArray(messages.map(({ originalBody }) => originalBody)),
        numberArray(messages.map(({ dueAt }) => dueAt?.getTime())),
        texts(({ businessId }) => businessId),
      ]
      // Messages that are already parked are not parked again.
      await transactions.write(tx, [
        { statement: statements.park, values },
        { statement: statements.areParked, values: keys },
      ])
    },
    async reserve(options) {
      if (options.behind !== undefined) {
        const { rows } = await connections.runAlone(statements.reserveBehind, behindValues(options))
        return rows.map(parkedIn).sort((a, b) => a.sequence - b.sequence)
      }
      const { limit, forMs, wanted, pastDead, maxBytes } = options
      if (limit <= 0 || wanted.length === 0) return []
      const { whole, pairs } = splitWanted(wanted)
      const { rows } = await connections.runAlone(statements.reserve, [
        ...[String(limit), String(forMs), textArray(whole), textArray(pastDead), String(maxBytes)],
        textArray(pairs.map(([handler]) => handler)),
        bytesArray(pairs.map(([, type]) => Buffer.from(type))),
      ])
      // If there is none, the check that none was left out is all that is answered.
      return inOrder(rows.filter(([name]) => name !== null)).map(parkedIn)
    },
    async rebook(bookings, forMs) {
      if (bookings.length === 0) return []
      const begun = numberArray(bookings.map((booking) => booking.begun))
      const { rows } = await connections.runAlone(statements.rebook, [...ticketArrays(bookings), begun, String(forMs)])
      const revisions = new Map(rows.map(([place, revision]) => [Number(place), Number(revision)]))
      return bookings.map((_, index) => revisions.get(index + 1))
    },
    async take(tx, tickets) {
      if (tickets.length === 0) return []
      return answeredIn(tickets, await transactions.get(tx).connection.run(statements.take, ticketArrays(tickets)))
    },
    async change(tx, changes) {
      const done = changes.filter(({ kind }) => kind === 'done')
      const kept = changes.filter((change) => change.kind !== 'done')
      if (done.length > 0) {
        const keys = keyArrays(done)
        await transactions.write(tx, [
          { statement: statements.remove, values: keys },
          { statement: statements.areGone, values: keys },
        ])
      }
      if (kept.length === 0) return
      const values = [
        ...keyArrays(kept),
        textArray(kept.map(({ kind }) => (kind === 'again' ? 'waiting' : 'dead'))),
        numberArray(kept.map(({ attempts }) => attempts)),
        textArray(kept.map(({ reason }) => reason)),
        textArray(kept.map(({ errors }) => errors)),
        textArray(kept.map(({ shape }) => shape)),
        numberArray(kept.map((change) => (change.kind === 'again' ? change.delayMs : 0))),
        numberArray(kept.map((change) => (change.kind === 'dead' ? change.step : undefined))),
      ]
      await transactions.write(tx, [{ statement: statements.change, values }])
    },
    async blocked(tx, scopes) {
      if (scopes.length === 0) return []
      const handlers = textArray(scopes.map(({ handler }) => handler))
      const orderKeys = textArray(scopes.map(({ orderKey }) => orderKey))
      const pastDead = booleanArray(scopes.map((scope) => scope.pastDead))
      // Two statements, because one that has waited for a lock does not see what its holder has committed, but the next one does.
      const [, seen] = await transactions.get(tx).connection.runInTurn([
        { statement: statements.lockScopes, values: [textArray(scopes.map(scopeName))] },
        { statement: statements.lookAtScopes, values: [handlers, orderKeys, pastDead] },
      ])
      return answeredIn(scopes, seen)
    },
    async list(filter, page) {
      const { place, values } = placing()
      const sql = listSql(dialect, { table, filter }, page, place)
      return (await connections.runAlone(statement(sql), values)).rows.map(parkedIn)
    },
    async tally(filter, by, limit) {
      const { place, values } = placing()
      const sql = tallySql(dialect, { table, filter }, { by, limit }, place)
      return (await connections.runAlone(statement(sql), values)).rows.map(tallyIn(by))
    },
    async edit(tx, filter, edit, limit) {
      const { place, values } = placing()
      const change =
        edit.kind === 'remove'
          ? `DELETE FROM ${table} AS known USING found`
          : `UPDATE ${table} AS known SET ${editedColumns(dialect, edit, place)} FROM found`
      const { rows } = await transactions.runner(tx).run(
        statement(
          `WITH found AS MATERIALIZED (
             SELECT sequence AS found_sequence FROM ${table} WHERE ${conditionOf(dialect, filter, place)}
             ORDER BY sequence LIMIT ${place(limit)} FOR UPDATE SKIP LOCKED)
           ${change} WHERE sequence = found_sequence RETURNING sequence, handler, key`,
        ),
        values,
      )
      return [...rows]
        .sort((a, b) => Number(a[0]) - Number(b[0]))
        .map(([, handler, key]) => ({ handler: textIn(handler), key: textIn(key) }))
    },
  }
}

function behindValues({ behind, limit, forMs, maxBytes, pastDead }: BehindOptions): Cell[] {
  const { handler, key, revision } = behind
  return [handler, key, String(revision), String(limit), String(forMs), String(maxBytes), String(pastDead)]
}

function ticketArrays(tickets: readonly ParkedTicket[]): Cell[] {
  return [...keyArrays(tickets), numberArray(tickets.map(({ revision }) => revision))]
}

/** Sorted by when they were due, which is the last column, and then by their sequence. */
function inOrder(rows: Answer['rows']): Answer['rows'] {
  return [...rows].sort((a, b) => Number(a.at(-1)) - Number(b.at(-1)) || Number(a[13]) - Number(b[13]))
}

/** `true` for each whose place, counted from 1, is among the rows. */
function answeredIn(asked: readonly unknown[], answer: Answer | undefined): boolean[] {
  const places = new Set(answer?.rows.map(([place]) => Number(place)))
  return asked.map((_, index) => places.has(index + 1))
}

/** Unique for each scope. */
function scopeName({ handler, orderKey }: OrderScope): string {
  return JSON.stringify([handler, orderKey])
}
