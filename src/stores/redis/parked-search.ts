import type { ParkedFilter, Parking, StoredParkedMessage, WaitingMessages } from '../../contracts/index.ts'
import { type Connection, text } from './connection.ts'
import { pairName } from './names.ts'
import { fits } from './parked-filter.ts'
import { readRow, type SearchedRow, searchedFields } from './parked-row.ts'
import { rowsScript, scanScript } from './scripts/parking.ts'

/** So many at a time: other clients are served between two pages. */
const page = 500
/** Whole rows carry their messages, so fewer. */
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
  const names: string[] = []
  if (limit > 0) {
    for await (const row of search(connection, filter, after)) {
      names.push(pairName(row.handler ?? '', row.key ?? ''))
      if (names.length >= limit) break
    }
  }
  const rows: StoredParkedMessage[] = []
  for (let from = 0, left = maxBytes; from < names.length && left > 0; from += wholePage) {
    const some = names.slice(from, from + wholePage)
    const replies = (await connection.run(rowsScript, left, ...some)) as unknown[]
    const found = replies.flatMap((reply) => readRow(reply) ?? [])
    rows.push(...found)
    if (replies.length < some.length) break
    for (const { message } of found) left -= message.envelope.length + message.body.length
  }
  return rows
}

export async function countRows(connection: Connection, filter: ParkedFilter): Promise<number> {
  const { state, ...rest } = filter
  if (Object.values(rest).every((value) => value === undefined)) {
    const size = async (list: string) => Number(await connection.call('ZCARD', connection.prefix + list))
    if (state === 'dead') return await size('parked-dead')
    const [all, dead] = await Promise.all([size('parked-all'), size('parked-dead')])
    return state === 'waiting' ? all - dead : all
  }
  let count = 0
  for await (const _ of search(connection, filter, 0)) count++
  return count
}

export async function countWaiting(connection: Connection): Promise<WaitingMessages[]> {
  const groups = new Map<string, WaitingMessages>()
  for await (const { handler = '', type = '' } of search(connection, { state: 'waiting' }, 0)) {
    const name = pairName(handler, type)
    groups.set(name, { handler, type, count: (groups.get(name)?.count ?? 0) + 1 })
  }
  return [...groups.values()]
}

async function* search(connection: Connection, filter: ParkedFilter, after: number): AsyncGenerator<SearchedRow> {
  const isWanted = fits(filter)
  // Error histories are long, and seldom asked for.
  const fields = searchedFields.filter((name) => name !== 'errors' || filter.errorText !== undefined)
  const list = filter.state === 'dead' ? 'parked-dead' : 'parked-all'
  for (let place = after; ; ) {
    const replies = (await connection.run(scanScript, list, place, page, ...fields)) as (unknown[] | undefined)[]
    for (const reply of replies) {
      const row = readFields(fields, reply ?? [])
      if (row.sequence === undefined) continue
      place = Number(row.sequence)
      if (isWanted(row)) yield row
    }
    if (replies.length < page) return
  }
}

function readFields(fields: readonly (keyof SearchedRow)[], values: readonly unknown[]): SearchedRow {
  const row: { -readonly [Name in keyof SearchedRow]: SearchedRow[Name] } = {}
  for (const [place, name] of fields.entries()) {
    const value = values[place]
    if (value !== null && value !== undefined) row[name] = text(value)
  }
  return row
}
