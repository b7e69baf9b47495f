import { JustonceError } from '../../errors/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { explained, withoutValues } from './errors.ts'
import type { Cell } from './literals-and-cells.ts'
import { atHome } from './tables.ts'

export interface Answer {
  readonly rows: readonly (readonly Cell[])[]
  /** How many rows the statement has changed. */
  readonly count: number
  /** The session status that the server reported; see `serverFlags`. */
  readonly status: number
}

/** Bits of `status`. */
export const serverFlags = { inTransaction: 1, autocommit: 2, backslashesAreLetters: 512 } as const

/** Runs our statements inside a transaction, ours or the caller's. */
export interface Runner {
  run(sql: string): Promise<Answer>
}

/** What must be known about a server to send it a statement. */
export interface Addressee {
  /** The database of our tables, unless the store was given one. */
  readonly database: string | undefined
  readonly maxPacket: number
}

interface FieldOfRow {
  buffer(): Cell
}

/** Set for each statement, because the user may have set something else for the whole pool. */
const asBytes = { rowsAsArray: true, nestTables: false, typeCast: (field: FieldOfRow) => field.buffer() }

interface ResultHeader {
  readonly affectedRows?: number
  readonly serverStatus?: number
}

/** As mysql2 describes it. */
interface Column {
  readonly columnType?: number
  readonly characterSet?: number
}

/** Whole numbers, in the protocol: the only columns of ours that the server writes in the encoding of the session. */
const numbers = new Set([1, 2, 3, 8, 9])

/** Whether somebody has had results written in an encoding in which a digit is more than a byte. */
function isMisread(row: readonly Cell[] | undefined, columns: readonly Column[] = []): boolean {
  return columns.some(({ columnType = -1 }, at) => numbers.has(columnType) && row?.[at]?.includes(0) === true)
}

function misread(): JustonceError {
  return new JustonceError('STORE_DENIED', {
    message:
      'Other code has left this session with an encoding for results (character_set_results) in which the store cannot read numbers.',
  })
}

export async function runOn(
  connection: Pick<MysqlConnectionShape, 'query'>,
  sql: string,
  { database, maxPacket }: Addressee,
): Promise<Answer> {
  // The server would respond to such a statement by closing the connection, which looks like an outage.
  if (sql.length + overheadBytes > maxPacket) throw tooLarge(sql.length, maxPacket)
  return await ask(connection, atHome(sql, database))
}

export async function ask(connection: Pick<MysqlConnectionShape, 'query'>, sql: string): Promise<Answer> {
  try {
    const [result, columns] = (await connection.query({ sql, ...asBytes })) as [
      readonly (readonly Cell[])[] | ResultHeader,
      (readonly Column[])?,
    ]
    if (Array.isArray(result) && isMisread(result[0], columns)) throw misread()
    if (Array.isArray(result)) return { rows: result, count: result.length, status: serverFlags.inTransaction }
    const { affectedRows = 0, serverStatus = 0 } = result as ResultHeader
    return { rows: [], count: affectedRows, status: serverStatus }
  } catch (error) {
    throw explained(withoutValues(error))
  }
}

/** Room for table names and the packet header. Our statements are plain ASCII, so a character is a byte. */
const overheadBytes = 4_096

function tooLarge(bytes: number, maxPacket: number): JustonceError {
  return new JustonceError('STORE_CANNOT', {
    message: `A statement of ${bytes} bytes does not fit into max_allowed_packet of the server, which is ${maxPacket}; raise it, or send smaller messages.`,
  })
}
