import type { DueOptions, NewParkedMessage, OrderScope, ParkedChange, ParkedEdit } from '../../contracts/index.ts'
import { editedColumns } from '../sql/parked-letters.ts'
import { splitWanted } from '../sql/split-wanted.ts'
import { dialect, place } from './dialect.ts'
import { boolean, bytes, integer, nowMicros, nowMs } from './literals-and-cells.ts'
import { foundByValue, givenRows, handlerValue, keyValue, textValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export const laterMs = (ms: number) => `${nowMs} + ${integer(ms)}`

export const insertColumns = `handler, \`key\`, message_id, type, source, state, reason, errors, shape, attempts, step,
  independent, order_key, revision, parked_at, changed_at, next_at, redrive, released, envelope, \`body\`, original_body,
  business_id`

/** The revision begins with the time, so that a message parked again never gets a revision of its earlier row. */
export function parkedValues(message: NewParkedMessage): string {
  const { handler, key, messageId, type, source, state, reason, errors, shape, attempts, step, independent } = message
  return `(${[
    handlerValue(handler),
    keyValue(key),
    textValue(messageId),
    textValue(type),
    textValue(source),
    state === 'dead' ? `'dead'` : `'waiting'`,
    textValue(reason),
    bytes(errors),
    textValue(shape),
    integer(attempts),
    integer(step),
    boolean(independent),
    textValue(message.orderKey),
    nowMicros,
    nowMs,
    nowMs,
    message.dueAt === undefined ? laterMs(message.delayMs) : integer(message.dueAt.getTime()),
    textValue(message.redrive),
    boolean(message.redrive !== undefined),
    bytes(message.message.envelope),
    bytes(message.message.body),
    bytes(message.originalBody),
    textValue(message.businessId),
  ].join(', ')})`
}

/**
 * The due rows, longest overdue first. The index scan ends at the limit, so nothing else is locked. The handlers are named by themselves,
 * because the index has them and not the types: many due rows may belong to others, and none of these is read.
 */
export function selectDue({ parked }: Tables, options: DueOptions): string {
  return `SELECT sequence, ${size} FROM ${parked} AS due FORCE INDEX (parked_due)
    WHERE due.state = 'waiting' AND due.next_at <= ${nowMs}
      AND ${isAmong(options.wanted.map(({ handler }) => handler))} AND ${isWanted(options.wanted)} AND ${isFirst(parked, options)}
    ORDER BY due.next_at, due.sequence LIMIT ${integer(options.limit)}`
}

/**
 * The locked rows that have nothing before them. This must be a separate statement: a locking one sees its rows as they are
 * now, but the rows before them as of its start, which may be before both were parked.
 */
export function selectFirst({ parked }: Tables, options: DueOptions, locked: readonly number[]): string {
  return `SELECT sequence, ${size} FROM ${parked} AS due WHERE due.sequence IN (${locked.join(', ')}) AND ${isFirst(parked, options)}
    ORDER BY due.next_at, due.sequence`
}

function isFirst(parked: string, { pastDead }: DueOptions): string {
  const earlierOfKey = (state: string) =>
    `EXISTS (SELECT 1 FROM ${parked} AS head FORCE INDEX (parked_order)
             WHERE head.handler = due.handler AND head.order_key = due.order_key AND head.state = '${state}'
               AND head.sequence < due.sequence)`
  return `(due.order_key IS NULL OR NOT ${earlierOfKey('waiting')})
      AND (due.order_key IS NULL OR ${isAmong(pastDead)} OR NOT ${earlierOfKey('dead')})
      AND ${waitsForNoStep(parked)}`
}

function waitsForNoStep(parked: string): string {
  return `(due.independent = 1 OR NOT EXISTS (
             SELECT 1 FROM ${parked} AS earlier FORCE INDEX (parked_steps)
             WHERE earlier.source = due.source AND earlier.message_id = due.message_id AND earlier.step < due.step
               AND earlier.type = due.type))`
}

const size = 'LENGTH(due.envelope) + LENGTH(due.`body`)'

/** The rows behind a row of an order key, in order: sequence, bytes, and 1 if it is due and waits for no earlier step. */
export function selectBehind({ parked }: Tables, scope: string, limit: number): string {
  return `SELECT sequence, ${size}, due.next_at <= ${nowMs} AND ${waitsForNoStep(parked)}
    FROM ${parked} AS due FORCE INDEX (parked_order)
    WHERE ${scope} AND due.state = 'waiting' ORDER BY due.sequence LIMIT ${integer(limit)}`
}

/** The first dead letter behind that row. */
export function selectDeadBehind({ parked }: Tables, scope: string): string {
  return `SELECT MIN(due.sequence) FROM ${parked} AS due FORCE INDEX (parked_order) WHERE ${scope} AND due.state = 'dead'`
}

export function scopeBehind(handler: string, orderKey: string, sequence: number): string {
  return `due.handler = ${bytes(handler)} AND due.order_key = ${bytes(orderKey)} AND due.sequence > ${integer(sequence)}`
}

function isWanted(wanted: DueOptions['wanted']): string {
  const { whole, pairs } = splitWanted(wanted)
  if (pairs.length === 0) return isAmong(whole)
  const typed = pairs.map(([handler, type]) => `(${bytes(handler)}, ${bytes(type)})`)
  return `(${isAmong(whole)} OR (due.handler, due.type) IN (${typed.join(', ')}))`
}

function isAmong(names: readonly string[]): string {
  return names.length === 0 ? 'FALSE' : `due.handler IN (${names.map((name) => bytes(name)).join(', ')})`
}

export type KeptChange = Exclude<ParkedChange, { kind: 'done' }>

const changed = ['handler', '`key`', 'state', 'attempts', 'reason', 'errors', 'shape', 'delay_ms', 'step']

export function changeRow(change: KeptChange): string[] {
  const { handler, key, kind, attempts, reason, errors, shape } = change
  return [
    handlerValue(handler),
    keyValue(key),
    kind === 'again' ? `'waiting'` : `'dead'`,
    integer(attempts),
    textValue(reason),
    bytes(errors),
    textValue(shape),
    integer(change.kind === 'again' ? change.delayMs : 0),
    change.kind === 'dead' && change.step !== undefined ? integer(change.step) : 'NULL',
  ]
}

export function updateChanged({ parked }: Tables, rows: readonly (readonly string[])[]): string {
  return `UPDATE ${givenRows(changed, rows)} STRAIGHT_JOIN ${parked} AS known FORCE INDEX (parked_key)
      ON known.handler = given.handler AND known.\`key\` = given.\`key\`
    SET known.state = given.state, known.attempts = given.attempts, known.reason = given.reason,
        known.errors = given.errors, known.shape = given.shape, known.step = COALESCE(given.step, known.step),
        known.next_at = ${nowMs} + given.delay_ms, known.changed_at = ${nowMs},
        known.begun = 0, known.revision = known.revision + 1`
}

/** Returns one column for each scope, in their order. */
export function selectBlocked({ parked }: Tables, scopes: readonly OrderScope[]): string {
  const answers = scopes.map(
    ({ handler, orderKey, pastDead }) =>
      `EXISTS (SELECT 1 FROM ${parked} FORCE INDEX (parked_order)
               WHERE handler = ${bytes(handler)} AND order_key = ${bytes(orderKey)}
                 AND state ${pastDead ? `= 'waiting'` : `IN ('waiting', 'dead')`})`,
  )
  return `SELECT ${answers.join(', ')}`
}

/** Finds the rows by the primary key, as `edit` has locked them. */
export function editSql(parked: string, edit: ParkedEdit, sequences: readonly string[]): string {
  const found = foundByValue(parked, 'sequence', sequences)
  if (edit.kind === 'remove') return `DELETE known FROM ${found}`
  const changes = editedColumns(dialect, edit, place)
  // Only in a statement on one table are columns assigned in their order.
  return edit.kind === 'replace'
    ? `UPDATE ${parked} SET ${changes} WHERE sequence IN (${sequences.join(', ')})`
    : `UPDATE ${found} SET ${changes}`
}
