import type { ParkedEdit, ParkedFilter, Parking, TallyColumn } from '../../contracts/index.ts'
import type { Dialect, Place } from './dialect.ts'
import { parkedColumns } from './rows.ts'

const comparedColumns = {
  handler: 'handler',
  type: 'type',
  source: 'source',
  reason: 'reason',
  shape: 'shape',
  key: 'key',
  messageId: 'message_id',
  businessId: 'business_id',
  orderKey: 'order_key',
  redrive: 'redrive',
} as const satisfies Partial<Record<keyof ParkedFilter, string>>

/** Names are compared byte by byte. Ranges, so that a few intents are found on an index beside a million dead letters. */
const kinds = {
  message: `substr(handler, 1, 1) NOT IN ('!', '@')`,
  intent: `handler >= '!' AND handler < '"'`,
  delayed: `handler >= '@' AND handler < 'A'`,
} as const

/**
 * A condition on the bare columns of the parked table. Only what the filter gives becomes part of it, and states are spelled
 * out, so that the planner can choose the right index.
 */
export function conditionOf(dialect: Dialect, filter: ParkedFilter, place: Place): string {
  const { kind = 'message', state, since, before, keys, released, notInRedrives = [], errorText } = filter
  const conditions: string[] = []
  if (kind !== 'any') conditions.push(kinds[kind])
  if (state !== undefined) conditions.push(state === 'dead' ? `state = 'dead'` : `state = 'waiting'`)
  for (const [field, column] of Object.entries(comparedColumns)) {
    const wanted = filter[field as keyof typeof comparedColumns]
    if (wanted !== undefined) conditions.push(`${dialect.name(column)} = ${place(wanted)}`)
  }
  if (released !== undefined) conditions.push(`released = ${released}`)
  if (notInRedrives.length > 0)
    conditions.push(`(redrive IS NULL OR redrive NOT IN (${notInRedrives.map(place).join(', ')}))`)
  if (since !== undefined) conditions.push(`changed_at >= ${place(since)}`)
  if (before !== undefined) conditions.push(`changed_at < ${place(before)}`)
  // Error histories are JSON, which writes a quote in a message as \".
  if (errorText) conditions.push(`${dialect.find}(errors, ${place(JSON.stringify(errorText).slice(1, -1))}) > 0`)
  if (keys !== undefined) conditions.push(dialect.isOneOf(keys, place))
  return conditions.length === 0 ? 'true' : conditions.join(' AND ')
}

interface Rows {
  readonly table: string
  readonly filter: ParkedFilter | undefined
}

/**
 * Selects the rows of a page first and reads them afterwards, because bodies should not be sorted. The join is written such
 * that SQLite looks up the rows of the page instead of reading all.
 */
export function listSql(
  dialect: Dialect,
  { table, filter = {} }: Rows,
  {
    limit = 1_000,
    after = 0,
    maxBytes = Number.MAX_SAFE_INTEGER,
  }: NonNullable<Parameters<Parking<never>['list']>[1]> = {},
  place: Place,
): string {
  const bytes = `length(envelope) + length(${dialect.name('body')}) + coalesce(length(original_body), 0)`
  return `SELECT ${parkedColumns(dialect)} FROM (
      SELECT listed, sum(bytes) OVER (ORDER BY listed) - bytes AS bytes_before FROM (
        SELECT sequence AS listed, ${bytes} AS bytes FROM ${table}
        WHERE ${conditionOf(dialect, filter, place)} AND sequence > ${place(after)}
        ORDER BY sequence LIMIT ${place(limit)}) AS page) AS fitting
    CROSS JOIN ${table} WHERE sequence = listed AND bytes_before < ${place(maxBytes)} ORDER BY sequence`
}

/** `tallyIn` reads its rows. */
export function tallySql(
  dialect: Dialect,
  { table, filter = {} }: Rows,
  { by, limit = Number.MAX_SAFE_INTEGER }: { readonly by: readonly TallyColumn[]; readonly limit?: number | undefined },
  place: Place,
): string {
  const from = `FROM ${table} WHERE ${conditionOf(dialect, filter, place)}`
  if (by.length === 0) return `SELECT count(*) ${from} HAVING count(*) > 0 LIMIT ${place(limit)}`
  const columns = by.map((column) => (column === 'orderKey' ? 'order_key' : column)).join(', ')
  return `SELECT ${columns}, count(*) AS counted, ${dialect.inMs('min(parked_at)')}, ${dialect.inMs('max(changed_at)')}
    ${from} GROUP BY ${columns} ORDER BY counted DESC, ${columns} LIMIT ${place(limit)}`
}

/** What an edit sets, where it removes nothing. Which rows it gets is a matter of locks. */
export function editedColumns(
  { now, name }: Dialect,
  edit: Exclude<ParkedEdit, { readonly kind: 'remove' }>,
  place: Place,
): string {
  switch (edit.kind) {
    case 'mark':
      return `redrive = ${place(edit.redrive)}, released = false`
    case 'release':
      return `revision = revision + 1, released = true, state = 'waiting', attempts = 0, begun = 0,
        changed_at = ${now}, next_at = ${now}`
    // MySQL assigns from left to right, so the body that was received is kept before it is replaced.
    case 'replace': {
      const { envelope, body } = edit.message
      return `revision = revision + 1, original_body = coalesce(original_body, ${name('body')}),
        envelope = ${place(envelope)}, ${name('body')} = ${place(body)}`
    }
  }
}
