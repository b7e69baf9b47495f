import { kafka } from './kafka.ts'
import { mariadb } from './mariadb.ts'
import { pgbouncer } from './pgbouncer.ts'
import { postgres } from './postgres.ts'
import { rabbitmq } from './rabbitmq.ts'
import { redis } from './redis.ts'
import type { ServerDefinition } from './server.ts'

/** Every server the suites may ask for. */
export const definitions = { postgres, pgbouncer, mariadb, redis, rabbitmq, kafka } as const satisfies Record<
  string,
  ServerDefinition
>

export type ServerName = keyof typeof definitions

export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(definitions, name)
}
