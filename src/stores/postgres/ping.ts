import type { Connections } from './connection.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** Reads our table and checks whether the server accepts writes: after a failover, a standby answers everything else. */
export async function ping<Tx>(connections: Pick<Connections<Tx>, 'checkOut'>, { meta }: Tables): Promise<void> {
  const look = statement(`SELECT current_setting('transaction_read_only') FROM ${meta} LIMIT 1`)
  const connection = await connections.checkOut({})
  try {
    const { rows } = await connection.run(look, [])
    if (rows[0]?.[0] !== 'off') throw new Error('Postgres takes no writes here: a standby, or read only by a setting.')
    connection.release()
  } catch (error) {
    // If someone has made only this session read-only, the next probe gets another one.
    connection.discard()
    throw error
  }
}
