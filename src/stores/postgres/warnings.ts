import type { StoreWarning } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { ConnectionSource } from './connection.ts'
import { statement } from './statement.ts'

const encoding = statement(`SELECT current_setting('server_encoding')`)

/** These hold every text: SQL_ASCII takes bytes as they come. */
const holdsAll = new Set(['UTF8', 'SQL_ASCII'])

export async function postgresWarnings<Tx>(source: Pick<ConnectionSource<Tx>, 'runAlone'>): Promise<StoreWarning[]> {
  const name = (await source.runAlone(encoding, [])).rows[0]?.[0] ?? 'UTF8'
  if (holdsAll.has(String(name))) return []
  const { code, message } = new JustonceError('ENCODING_TOO_NARROW', {
    message: `The encoding of the database is ${name}: a message whose key does not fit it becomes a dead letter.`,
  })
  return [{ code, message }]
}
