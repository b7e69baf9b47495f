import type { RecordKey } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { bytes } from './literals-and-cells.ts'

/** The sizes of the columns for handlers and keys. Checked here, because a server that is not strict would truncate them. */
export const handlerBytes = 400
export const keyBytes = 1024
/** For the other texts, which the contract limits to 300 characters. */
export const textBytes = 1200

export function handlerValue(handler: string): string {
  return fitting(handler, handlerBytes, 'The name of a handler')
}

export function keyValue(key: string): string {
  return fitting(key, keyBytes, 'The key of a message')
}

export function textValue(text: string | undefined): string {
  return text === undefined ? 'NULL' : fitting(text, textBytes, 'A text')
}

/** The name of a fact contains a name that may have 300 characters. */
export function factValue(name: string): string {
  return fitting(name, 1300, 'The name of a fact')
}

function fitting(text: string, most: number, what: string): string {
  const size = Buffer.byteLength(text)
  if (size <= most) return bytes(text)
  throw new JustonceError('STORE_CANNOT', {
    message: `${what} has ${size} bytes, and the MySQL store keeps at most ${most}: ${JSON.stringify(text.slice(0, 60))}…`,
  })
}

/** A pair that is too long for the columns cannot be in them. */
function fits({ handler, key }: RecordKey): boolean {
  return Buffer.byteLength(handler) <= handlerBytes && Buffer.byteLength(key) <= keyBytes
}

/** Matches these rows by the index of the pair; not every server uses an index for a list of pairs in an IN. */
export function isOneOf(keys: readonly RecordKey[]): string {
  const pairs = keys.filter(fits).map(({ handler, key }) => `(handler = ${bytes(handler)} AND \`key\` = ${bytes(key)})`)
  return pairs.length === 0 ? 'FALSE' : `(${pairs.join(' OR ')})`
}

/** Rows of values as a table, for a statement that changes each row differently. */
export function givenRows(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first, ...rest] = rows
  const head = `SELECT ${names.map((name, index) => `${first?.[index]} AS ${name}`).join(', ')}`
  return `(${[head, ...rest.map((row) => `SELECT ${row.join(', ')}`)].join(' UNION ALL ')}) AS given`
}

/**
 * The rows of a table that have one of the given pairs, looked up one by one. With FORCE INDEX alone, the server could still
 * read all of a small table, and a locking read waits for the locks on everything it reads.
 */
export function foundByKey(table: string, index: string, keys: readonly RecordKey[]): string {
  const rows = keys.map(({ handler, key }) => [bytes(handler), bytes(key)])
  return `${givenRows(['handler', '`key`'], rows)} STRAIGHT_JOIN ${table} AS known FORCE INDEX (${index})
    ON known.handler = given.handler AND known.\`key\` = given.\`key\``
}

/** Like `foundByKey`, by a column that is the primary key. */
export function foundByValue(table: string, column: string, values: readonly string[]): string {
  const given = givenRows(
    ['value'],
    values.map((value) => [value]),
  )
  return `${given} STRAIGHT_JOIN ${table} AS known FORCE INDEX (PRIMARY) ON known.${column} = given.value`
}

/** Below 1 MB, the smallest packet that servers have ever accepted by default. */
const longestStatement = 900_000
const mostRows = 500

/** Splits rows of values into statements that are not too long. */
export function inChunks(rows: readonly string[]): string[][] {
  const chunks: string[][] = []
  let length = 0
  for (const row of rows) {
    const last = chunks.at(-1)
    if (last === undefined || last.length === mostRows || length + row.length > longestStatement) {
      chunks.push([row])
      length = row.length
    } else {
      last.push(row)
      length += row.length
    }
  }
  return chunks
}

/** Like `inChunks`, for short rows. */
export function inGroups<T>(rows: readonly T[]): T[][] {
  const groups: T[][] = []
  for (let from = 0; from < rows.length; from += mostRows) groups.push(rows.slice(from, from + mostRows))
  return groups
}
