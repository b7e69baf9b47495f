import { type ProveOptions, type ScratchPostgresOptions, scratchPostgres } from '../../testing/index.ts'
import { postgresClient } from '../clients.ts'

type PgPool = Parameters<typeof scratchPostgres>[0] extends ScratchPostgresOptions<infer Pool> ? Pool : never

/** Uses the client library of the user's project, because handlers expect its `tx`. */
export function postgresFrom(url: string): NonNullable<ProveOptions['database']> {
  const options = { url, connect: postgresClient('--postgres').open } as ScratchPostgresOptions<PgPool>
  return scratchPostgres(options) as unknown as NonNullable<ProveOptions['database']>
}
