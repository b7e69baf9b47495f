import type { Cell } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { explained } from './errors.ts'

export interface Answer {
  readonly rows: readonly (readonly Cell[])[]
  /** How many rows the statement has changed. */
  readonly count: number
  /** What the server says about the session; see `serverFlags`. */
  readonly status: number
}

/** Bits of `status`. */
export const serverFlags = { inTransaction: 1, autocommit: 2 } as const

/** Runs our statements inside a transaction, be it our own or the caller's. */
export interface Runner {
  run(sql: string): Promise<Answer>
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

export async function runOn(connection: Pick<MysqlConnectionShape, 'query'>, sql: string): Promise<Answer> {
  try {
    const [result] = (await connection.query({ sql, ...asBytes })) as [readonly (readonly Cell[])[] | ResultHeader]
    if (Array.isArray(result)) return { rows: result, count: result.length, status: serverFlags.inTransaction }
    const { affectedRows = 0, serverStatus = 0 } = result as ResultHeader
    return { rows: [], count: affectedRows, status: serverStatus }
  } catch (error) {
    throw explained(error)
  }
}
