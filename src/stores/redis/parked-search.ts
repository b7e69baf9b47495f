import type { ParkedFilter, Parking, StoredParkedMessage, Tally, TallyColumn } from '../../contracts/index.ts'
import { fitsFilter } from '../shared/fits-filter.ts'
import { tallyRows } from '../shared/tally-rows.ts'
import { type Connection, text } from './connection.ts'
import { pairName, rowName } from './names.ts'
import { fits } from './parked-filter.ts'
import { readRow, type SearchedRow, searchedFields } from './parked-row.ts'
import { fieldsScript, rowsScript, scanScript } from './scripts/parking.ts'

/** How many rows are read at a time: other clients are served between two pages. */
const page = 500
/** Fewer, because whole rows include their messages. */
const wholePage = 100

export async function listRows(
  connection: Connection,
  filter: ParkedFilter,
  {
    limit = 1_000,
    after = 0,
    maxBytes = Number.MAX_SAFE_INTEGER,
  }: NonNullable<Parameters<Parking<unknown>['list']>[1]>,
): Promise<StoredParkedMessage[]> {
  const found: SearchedRow[] = []
  if (limit > 0) {
    for await (const row of search(connection, filter, after)) {
      found.push(row)
      if (found.length >= limit) break
    }
  }
  const rows: StoredParkedMessage[] = []
  // Asked again: they may have changed since they were found, and a dead letter must not be taken for a waiting message.
  const isStillWanted = fitsFilter(filter)
  let looked = 0
  for (let left = maxBytes; looked < found.length && left > 0; ) {
    const some = found.slice(looked, looked + wholePage)
    const replies = (await connection.run(rowsScript, left, ...some.map(nameOf))) as unknown[]
    const there = replies.flatMap((reply) => readRow(reply) ?? [])
    rows.push(...there.filter(isStillWanted))
    looked += replies.length
    if (replies.length < some.length) break
    for (const { message } of there) left -= message.envelope.length + message.body.length
  }
  // An empty page would be the end of the list.
  const last = found[looked - 1]
  if (rows.length > 0 || last === undefined) return rows
  return await listRows(connection, filter, { limit, after: Number(last.sequence), maxBytes })
}

export async function tallyFound<By extends TallyColumn>(
  connection: Connection,
  filter: ParkedFilter,
  by: readonly By[],
  limit: number | undefined,
): Promise<readonly Tally<By>[]> {
  if (by.length === 0) {
    const count = await countByState(connection, filter)
    if (count !== undefined) return count === 0 ? [] : [{ count } as Tally<By>]
  }
  const found: Pick<StoredParkedMessage, TallyColumn | 'parkedAt' | 'changedAt'>[] = []
  for await (const row of search(connection, filter)) {
    const { handler = '', type = '', reason = '', shape = '', orderKey } = row
    const times = { parkedAt: new Date(Number(row.parkedAt)), changedAt: new Date(Number(row.changedAt)) }
    const state = row.state === 'dead' ? 'dead' : 'waiting'
    const attempts = Number(row.attempts)
    found.push({ handler, type, reason, shape, orderKey, state, attempts, released: row.released === '1', ...times })
  }
  return tallyRows(found, by, limit)
}

/** Counts without reading the rows, if the filter asks only for the state. */
async function countByState(
  connection: Connection,
  { state, kind, ...rest }: ParkedFilter,
): Promise<number | undefined> {
  if (kind !== 'any' || Object.values(rest).some((value) => value !== undefined)) return undefined
  const size = async (list: string) => Number(await connection.call('ZCARD', connection.prefix + list))
  if (state === 'dead') return await size('parked-dead')
  const [all, dead] = await Promise.all([size('parked-all'), size('parked-dead')])
  return state === 'waiting' ? all - dead : all
}

/**
 * Yields rows in the order in which they were parked. `seen` may replace a row by its current state; `undefined` if it is
 * gone.
 */
export async function* search(
  connection: Connection,
  filter: ParkedFilter,
  after = 0,
  seen: (row: SearchedRow) => SearchedRow | undefined = (row) => row,
): AsyncGenerator<SearchedRow> {
  const isWanted = fits(filter)
  // Error histories are long and seldom asked for.
  const fields = searchedFields.filter((name) => name !== 'errors' || filter.errorText !== undefined)
  for await (const replies of pages(connection, filter, after, fields)) {
    for (const each of replies) {
      const row = seen(each)
      if (row !== undefined && isWanted(row)) yield row
    }
  }
}

type Fields = readonly (keyof SearchedRow)[]

async function* pages(
  connection: Connection,
  filter: ParkedFilter,
  after: number,
  fields: Fields,
): AsyncGenerator<readonly SearchedRow[]> {
  const { keys } = filter
  if (keys !== undefined) {
    const rows: SearchedRow[] = []
    const names = [...new Set(keys.map(rowName))]
    for (let from = 0; from < names.length; from += page) {
      const some = names.slice(from, from + page)
      const replies = (await connection.run(fieldsScript, fields.length, ...fields, ...some)) as unknown[][]
      rows.push(...replies.map((reply) => readFields(fields, reply)))
    }
    const placed = rows.filter(({ sequence }) => sequence !== undefined && Number(sequence) > after)
    yield placed.sort((a, b) => Number(a.sequence) - Number(b.sequence))
    return
  }
  const list = listOf(filter)
  for (let place: unknown = after; place !== null; ) {
    const [next, replies] = (await connection.run(scanScript, list, Number(place), page, ...fields)) as [
      unknown,
      unknown[][],
    ]
    yield replies.map((reply) => readFields(fields, reply)).filter(({ sequence }) => sequence !== undefined)
    place = next
  }
}

/** The shortest list that contains every row that can match. */
function listOf({ redrive, state }: ParkedFilter): string {
  if (redrive !== undefined) return `redrive:${redrive}`
  return state === 'dead' ? 'parked-dead' : 'parked-all'
}

export function nameOf({ handler = '', key = '' }: SearchedRow): string {
  return pairName(handler, key)
}

function readFields(fields: Fields, values: readonly unknown[]): SearchedRow {
  const row: { -readonly [Name in keyof SearchedRow]: SearchedRow[Name] } = {}
  for (const [place, name] of fields.entries()) {
    const value = values[place]
    if (value !== null && value !== undefined) row[name] = text(value)
  }
  return row
}
