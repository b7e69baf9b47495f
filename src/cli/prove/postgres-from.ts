import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type ProveOptions, type ScratchPostgresOptions, scratchPostgres } from '../../testing/index.ts'
import { UsageError } from '../command.ts'

type PgPool = Parameters<typeof scratchPostgres>[0] extends ScratchPostgresOptions<infer Pool> ? Pool : never

/** With the client library that the user's project has: handlers expect its `tx`. */
export function postgresFrom(url: string): NonNullable<ProveOptions['database']> {
  const connect = clientOf(createRequire(join(process.cwd(), 'package.json')))
  const options = { url, connect } as ScratchPostgresOptions<PgPool>
  return scratchPostgres(options) as unknown as NonNullable<ProveOptions['database']>
}

function clientOf(require: NodeJS.Require): (url: string) => unknown {
  const pg = found(require, 'pg') as { Pool: new (config: object) => unknown } | undefined
  if (pg !== undefined) return (connectionString) => new pg.Pool({ connectionString })
  const postgres = found(require, 'postgres') as ((url: string) => unknown) | undefined
  if (postgres !== undefined) return (url) => postgres(url)
  throw new UsageError('--postgres needs pg or postgres.js in your project: npm install pg')
}

function found(require: NodeJS.Require, name: string): unknown {
  try {
    return require(name)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
