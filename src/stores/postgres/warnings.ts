import type { StoreWarning } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { Connections } from './connection.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'
import { textArray } from './values-as-text.ts'

const encoding = statement(`SELECT current_setting('server_encoding')`)

const secured = statement(
  'SELECT name FROM unnest($1::text[]) AS given (name) WHERE row_security_active(to_regclass(name))',
)

/** Encodings that hold every text: SQL_ASCII accepts any bytes. */
const holdsAll = new Set(['UTF8', 'SQL_ASCII'])

export async function postgresWarnings<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  tables: Tables,
): Promise<StoreWarning[]> {
  const found: JustonceError[] = []
  const name = (await connections.runAlone(encoding, [])).rows[0]?.[0] ?? 'UTF8'
  if (!holdsAll.has(String(name))) {
    const message = `The encoding of the database is ${name}: a message whose key does not fit it becomes a dead letter.`
    found.push(new JustonceError('ENCODING_TOO_NARROW', { message }))
  }
  const { inbox, timeless, parked, queue, facts, positions, meta } = tables
  const names = [inbox, timeless, parked, queue, facts, positions, meta]
  const hidden = (await connections.runAlone(secured, [textArray(names)])).rows.map(([table]) => table)
  if (hidden.length > 0) {
    const message = `Row-level security applies to the role of the store on ${hidden.join(', ')}.`
    found.push(new JustonceError('ROWS_MAY_BE_HIDDEN', { message }))
  }
  return found.map(({ code, message }) => ({ code, message }))
}
