import { type ProveOptions, scratchMysql } from '../../testing/index.ts'
import { mysqlClient } from '../clients.ts'

/** Uses the mysql2 of the user's project, because handlers expect its `tx`. */
export function mysqlFrom(url: string): NonNullable<ProveOptions['database']> {
  const options = { url, connect: mysqlClient('--mysql') }
  return scratchMysql(options as Parameters<typeof scratchMysql>[0]) as unknown as NonNullable<ProveOptions['database']>
}
