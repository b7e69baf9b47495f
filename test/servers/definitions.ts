import { pgbouncer } from './pgbouncer.ts'
import { postgres } from './postgres.ts'
import type { ServerDefinition } from './server.ts'

/** Every server the suites may ask for. */
export const definitions = { postgres, pgbouncer } as const satisfies Record<string, ServerDefinition>

export type ServerName = keyof typeof definitions

export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(definitions, name)
}
