import type {
  BehindOptions,
  DueOptions,
  NewParkedMessage,
  OrderScope,
  ParkedChange,
  Parking,
  RecordKey,
} from '../../contracts/index.ts'
import { conditionOf, editedColumns, listSql, tallySql } from '../sql/parked-letters.ts'
import { parkedColumns, tallyIn } from '../sql/rows.ts'
import { splitWanted } from '../sql/split-wanted.ts'
import { withinBytes } from '../sql/within-bytes.ts'
import { dialect, parkedIn, placing } from './dialect.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase, SqliteValue } from './sqlite-database.ts'
import { now, type Statements } from './statements.ts'
import { swallowed } from './swallowed.ts'
import { statementsIn, type Transactions } from './transactions.ts'

const table = 'main.justonce_parked'

/** The revision begins at random, so that a message parked again has no revision of its earlier row. */
const insertMessage = `INSERT INTO main.justonce_parked (revision, handler, key, message_id, type, source, order_key, step,
  independent, state, attempts, begun, parked_at, changed_at, next_at, redrive, released, reason, shape, errors, envelope, body,
  original_body, business_id)
  VALUES (random() & 0xffffffffffff, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ${now}, ${now}, coalesce(?, ${now} + ?), ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
const earlierOfKey = `SELECT 1 FROM main.justonce_parked AS head
  WHERE head.handler = due.handler AND head.order_key = due.order_key AND head.sequence < due.sequence AND head.state =`
const earlierStep = `SELECT 1 FROM main.justonce_parked AS earlier WHERE earlier.message_id = due.message_id
    AND earlier.source = due.source AND earlier.step < due.step AND earlier.type = due.type`
// The plus keeps SQLite from choosing an index by handler: few rows are due, but a handler can have many.
const size = `length(envelope) + length(body)`
const selectDue = `SELECT sequence, ${size} AS bytes FROM main.justonce_parked AS due WHERE state = 'waiting' AND next_at <= ${now}
  AND (+handler IN (SELECT value FROM json_each(?))
    OR (+handler, type) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)))
  AND (order_key IS NULL OR NOT EXISTS (${earlierOfKey} 'waiting'))
  AND (order_key IS NULL OR handler IN (SELECT value FROM json_each(?)) OR NOT EXISTS (${earlierOfKey} 'dead'))
  AND (independent OR NOT EXISTS (${earlierStep}))
  ORDER BY next_at, sequence LIMIT ?`
const selectBehind = `SELECT sequence, ${size} AS bytes,
    next_at <= ${now} AND (independent OR NOT EXISTS (${earlierStep})) AS is_next
  FROM main.justonce_parked AS due WHERE handler = ? AND order_key = ? AND state = 'waiting' AND sequence > ? ORDER BY sequence LIMIT ?`
const selectDeadBehind = `SELECT min(sequence) AS sequence FROM main.justonce_parked
  WHERE handler = ? AND order_key = ? AND state = 'dead' AND sequence > ?`
const reserveDue = `UPDATE main.justonce_parked SET revision = revision + 1, next_at = ${now} + ? WHERE sequence = ?
  RETURNING ${parkedColumns(dialect)}`
const rebookOne = `UPDATE main.justonce_parked SET revision = revision + 1, begun = ?, next_at = ${now} + ?
  WHERE handler = ? AND key = ? AND revision = ? RETURNING revision`
const selectHead = `SELECT handler, order_key, sequence FROM main.justonce_parked WHERE handler = ? AND key = ? AND revision = ?`
const selectUnchanged = `SELECT 1 FROM main.justonce_parked WHERE handler = ? AND key = ? AND revision = ?`
const selectOfKey = `SELECT 1 FROM main.justonce_parked WHERE handler = ? AND order_key = ? AND state IN`
const selectOne = `SELECT 1 FROM main.justonce_parked WHERE handler = ? AND key = ?`
const deleteOne = `DELETE FROM main.justonce_parked WHERE handler = ? AND key = ?`
const changeOne = `UPDATE main.justonce_parked SET revision = revision + 1, begun = 0, state = ?, attempts = ?, reason = ?, shape = ?,
  errors = ?, step = coalesce(?, step), changed_at = ${now}, next_at = ${now} + ? WHERE handler = ? AND key = ?`

/** A transaction holds the write lock until it ends, so everything it reads is locked. */
export function sqliteParking<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Parking<Database> {
  return {
    async park(tx, messages) {
      const statements = statementsIn(tx)
      for (const message of messages) insert(statements, message)
    },
    async reserve(options) {
      if (options.behind !== undefined)
        return transactions.short((statements) =>
          behind(statements, options).map(({ sequence }) => reserved(statements, sequence, options)),
        )
      // Mostly nothing is due, and then nobody should wait for the write lock.
      if ((await reader.read((statements) => due(statements, { ...options, limit: 1 }))).length === 0) return []
      return transactions.short((statements) =>
        due(statements, options).map(({ sequence }) => reserved(statements, sequence, options)),
      )
    },
    rebook: (bookings, forMs) =>
      transactions.short((statements) =>
        bookings.map(({ handler, key, revision, begun }) => {
          const values = [begun, Math.ceil(forMs), handler, key, revision] as const
          return statements.get<{ revision: number }>(rebookOne, ...values)?.revision
        }),
      ),
    async take(tx, tickets) {
      const statements = statementsIn(tx)
      return tickets.map(
        ({ handler, key, revision }) => statements.get(selectUnchanged, handler, key, revision) !== undefined,
      )
    },
    async change(tx, changes) {
      const statements = statementsIn(tx)
      for (const change of changes) apply(statements, change)
    },
    async blocked(tx, scopes) {
      const statements = statementsIn(tx)
      return scopes.map((scope) => isBlocked(statements, scope))
    },
    list: (filter, page) =>
      reader.read((statements) => {
        const { place, values } = placing()
        const sql = listSql(dialect, { table, filter }, page, place)
        return statements.all<ParkedRow>(sql, ...values).map((row) => parkedIn(Object.values(row)))
      }),
    tally: (filter, by, limit) =>
      reader.read((statements) => {
        const { place, values } = placing()
        const sql = tallySql(dialect, { table, filter }, { by, limit }, place)
        return statements.all<object>(sql, ...values).map((row) => tallyIn(by)(Object.values(row)))
      }),
    async edit(tx, filter, edit, limit) {
      const { place, values } = placing()
      const change =
        edit.kind === 'remove' ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${editedColumns(dialect, edit, place)}`
      const chosen = `SELECT sequence FROM ${table} WHERE ${conditionOf(dialect, filter, place)} ORDER BY sequence LIMIT ${place(limit)}`
      const rows = statementsIn(tx).all<Edited>(
        `${change} WHERE sequence IN (${chosen}) RETURNING sequence, handler, key`,
        ...values,
      )
      return rows.sort((a, b) => a.sequence - b.sequence).map(({ handler, key }) => ({ handler, key }))
    },
  }
}

type ParkedRow = Readonly<Record<string, SqliteValue>>

interface Head {
  readonly handler: string
  readonly order_key: string | null
  readonly sequence: number
}

interface Found {
  readonly sequence: number
  readonly bytes: number
}

/** Longest overdue first. */
function due(statements: Statements, { wanted, pastDead, limit, maxBytes }: DueOptions): Found[] {
  const { whole, pairs } = splitWanted(wanted)
  const [names, typed, past] = [whole, pairs, pastDead].map((list) => JSON.stringify(list)) as [string, string, string]
  const found = statements.all<Found>(selectDue, names, typed, past, limit)
  return withinBytes(found, maxBytes)
}

function behind(statements: Statements, { behind: head, pastDead, limit, maxBytes }: BehindOptions): Found[] {
  const first = statements.get<Head>(selectHead, head.handler, head.key, head.revision)
  if (first === undefined || first.order_key === null) return []
  const scope = [first.handler, first.order_key, first.sequence] as const
  const dead = pastDead ? undefined : statements.get<{ sequence: number | null }>(selectDeadBehind, ...scope)
  const found = statements.all<Found & { readonly is_next: number }>(selectBehind, ...scope, limit)
  const end = found.findIndex(({ is_next, sequence }) => is_next !== 1 || sequence > (dead?.sequence ?? Infinity))
  return withinBytes(end === -1 ? found : found.slice(0, end), maxBytes)
}

interface Edited extends RecordKey {
  readonly sequence: number
}

function reserved(statements: Statements, sequence: number, { forMs }: Pick<DueOptions, 'forMs'>) {
  return parkedIn(Object.values(statements.get<ParkedRow>(reserveDue, Math.ceil(forMs), sequence) as ParkedRow))
}

function insert(statements: Statements, message: NewParkedMessage): void {
  const inserted = statements.run(
    insertMessage,
    message.handler,
    message.key,
    message.messageId,
    message.type,
    message.source,
    message.orderKey ?? null,
    message.step,
    message.independent ? 1 : 0,
    message.state,
    message.attempts,
    message.dueAt?.getTime() ?? null,
    Math.ceil(message.delayMs),
    message.redrive ?? null,
    message.redrive === undefined ? 0 : 1,
    message.reason,
    message.shape,
    message.errors,
    message.message.envelope,
    message.message.body,
    message.originalBody ?? null,
    message.businessId ?? null,
  )
  // Otherwise it is parked already.
  if (inserted === 0 && statements.get(selectOne, message.handler, message.key) === undefined)
    throw swallowed('a message was not parked', 'justonce_parked')
}

function apply(statements: Statements, change: ParkedChange): void {
  const { handler, key } = change
  if (change.kind === 'done') {
    refuseIfSwallowed(statements, statements.run(deleteOne, handler, key), change)
    return
  }
  const { attempts, reason, shape, errors } = change
  const state = change.kind === 'again' ? 'waiting' : 'dead'
  const delayMs = change.kind === 'again' ? Math.ceil(change.delayMs) : 0
  const step = (change.kind === 'dead' ? change.step : undefined) ?? null
  const changed = statements.run(changeOne, state, attempts, reason, shape, errors, step, delayMs, handler, key)
  refuseIfSwallowed(statements, changed, change)
}

/** A row that stays although its message was handled would be handled again, so everything done along with it is rolled back. */
function refuseIfSwallowed(statements: Statements, changed: number, { handler, key }: ParkedChange): void {
  if (changed > 0 || statements.get(selectOne, handler, key) === undefined) return
  throw swallowed('a parked message was not changed', 'justonce_parked')
}

function isBlocked(statements: Statements, { handler, orderKey, pastDead }: OrderScope): boolean {
  const states = pastDead ? `('waiting')` : `('waiting', 'dead')`
  return statements.get(`${selectOfKey} ${states} LIMIT 1`, handler, orderKey) !== undefined
}
