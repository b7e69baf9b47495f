import { type ProveOptions, scratchMysql } from '../../testing/index.ts'
import { UsageError } from '../command.ts'
import { projectModule } from './project-module.ts'

/** Uses the mysql2 of the user's project, because handlers expect its `tx`. */
export function mysqlFrom(url: string): NonNullable<ProveOptions['database']> {
  const mysql = projectModule('mysql2/promise') as { createPool(url: string): unknown } | undefined
  if (mysql === undefined) throw new UsageError('--mysql needs mysql2 in your project: npm install mysql2')
  const options = { url, connect: (scratch: string) => mysql.createPool(scratch) }
  return scratchMysql(options as Parameters<typeof scratchMysql>[0]) as unknown as NonNullable<ProveOptions['database']>
}
