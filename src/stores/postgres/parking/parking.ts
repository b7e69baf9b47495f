import type { BehindOptions, OrderScope, ParkedEdit, ParkedTicket, Parking } from '../../../contracts/index.ts'
import { splitWanted } from '../../sql/split-wanted.ts'
import { tallyIn, tallySql } from '../../sql/tally.ts'
import type { Answer, Connections } from '../connection.ts'
import { keyArrays } from '../inbox/record-rows.ts'
import { parkedIn } from '../rows.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { booleanArray, bytesArray, type Cell, hexOf, numberArray, textArray, textIn } from '../values-as-text.ts'
import { inMs, parkedColumns } from './parked-columns.ts'
import { filterSql } from './parked-filter.ts'
import { parkingStatements } from './parking-statements.ts'

export function postgresParking<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  tables: Tables,
): Parking<Tx> {
  const statements = parkingStatements(tables)
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
      return inOrder(rows).map(parkedIn)
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
    async list(filter = {}, { limit = 1_000, after = 0, maxBytes = Number.POSITIVE_INFINITY } = {}) {
      const { where, values } = filterSql(filter, [String(limit), String(after), String(maxBytes)])
      const text = `SELECT ${parkedColumns} FROM ${tables.parked} JOIN (
          SELECT listed, sum(bytes) OVER (ORDER BY listed) - bytes AS bytes_before FROM (
            SELECT sequence AS listed, ${bytes} AS bytes FROM ${tables.parked}
            WHERE sequence > $2::bigint AND ${where} ORDER BY sequence LIMIT $1::int) AS page) AS fitting ON sequence = listed
        WHERE bytes_before < $3::float8 ORDER BY sequence`
      const { rows } = await connections.runAlone(statement(text), values)
      return rows.map(parkedIn)
    },
    async tally(filter, by, limit = Number.MAX_SAFE_INTEGER) {
      const { where, values } = filterSql(filter, [String(limit)])
      const tally = tallySql({ table: tables.parked, where, limit: '$1::bigint' }, by, inMs)
      return (await connections.runAlone(statement(tally), values)).rows.map(tallyIn(by))
    },
    async edit(tx, filter, edit, limit) {
      const [change, given] = editSql(tables, edit)
      const { where, values } = filterSql(filter, [String(limit), ...given])
      const { rows } = await transactions.runner(tx).run(
        statement(
          `WITH found AS MATERIALIZED (
             SELECT sequence FROM ${tables.parked} WHERE ${where} ORDER BY sequence LIMIT $1::bigint FOR UPDATE SKIP LOCKED)
           ${change} found WHERE known.sequence = found.sequence RETURNING known.sequence, known.handler, known.key`,
        ),
        values,
      )
      return [...rows]
        .sort((a, b) => Number(a[0]) - Number(b[0]))
        .map(([, handler, key]) => ({ handler: textIn(handler), key: textIn(key) }))
    },
  }
}

const bytes = 'octet_length(envelope) + octet_length(body) + coalesce(octet_length(original_body), 0)'

/** The statement up to the list of rows; its values are numbered from the second on. */
function editSql({ parked }: Tables, edit: ParkedEdit): [sql: string, values: readonly Cell[]] {
  const update = `UPDATE ${parked} AS known SET`
  switch (edit.kind) {
    case 'remove':
      return [`DELETE FROM ${parked} AS known USING`, []]
    case 'mark':
      return [`${update} redrive = $2::text, released = false FROM`, [edit.redrive]]
    case 'release':
      return [
        `${update} released = true, state = 'waiting', attempts = 0, begun = 0, next_at = statement_timestamp(),
           changed_at = statement_timestamp(), revision = known.revision + 1 FROM`,
        [],
      ]
    case 'replace':
      return [
        `${update} envelope = $2::text::bytea, body = $3::text::bytea,
           original_body = coalesce(known.original_body, known.body), revision = known.revision + 1 FROM`,
        [edit.message.envelope, edit.message.body].map((each) => `\\x${hexOf(each)}`),
      ]
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
