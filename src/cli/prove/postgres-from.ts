import { type ProveOptions, type ScratchPostgresOptions, scratchPostgres } from '../../testing/index.ts'
import { UsageError } from '../command.ts'
import { projectModule } from './project-module.ts'

type PgPool = Parameters<typeof scratchPostgres>[0] extends ScratchPostgresOptions<infer Pool> ? Pool : never

/** Uses the client library of the user's project, because handlers expect its `tx`. */
export function postgresFrom(url: string): NonNullable<ProveOptions['database']> {
  const options = { url, connect: clientOf() } as ScratchPostgresOptions<PgPool>
  return scratchPostgres(options) as unknown as NonNullable<ProveOptions['database']>
}

function clientOf(): (url: string) => unknown {
  const pg = projectModule('pg') as { Pool: new (config: object) => unknown } | undefined
  if (pg !== undefined) return (connectionString) => new pg.Pool({ connectionString })
  const postgres = projectModule('postgres') as ((url: string) => unknown) | undefined
  if (postgres !== undefined) return (url) => postgres(url)
  throw new UsageError('--postgres needs pg or postgres.js in your project: npm install pg')
}
