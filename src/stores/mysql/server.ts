import type { MysqlConnectionShape } from './client-shapes.ts'
import { type Cell, numberIn, optionalTextIn, textIn } from './literals-and-cells.ts'
import { type Addressee, ask } from './runner.ts'

/** What must be known about a server before a transaction can be opened on it. */
export interface Server extends Addressee {
  readonly isMariadb: boolean
  /** Whether a lock timeout rolls back the whole transaction instead of the statement (`innodb_rollback_on_timeout`). */
  readonly timeoutsEndTransactions: boolean
  /** The database in which the user's sessions begin, if any. */
  readonly sessionDatabase: string | undefined
}

/**
 * Asked once for each store. The database of the sessions is the one that the pool is configured with, because the session
 * that is asked may be in another one. If the pool does not show it, the database of the first session is used.
 */
export async function askServer(
  native: Pick<MysqlConnectionShape, 'query'>,
  configured: string | undefined,
): Promise<Server> {
  const wanted = configured === undefined ? 'DATABASE()' : `x'${Buffer.from(configured).toString('hex')}'`
  // Looked up in the catalog, because a case-insensitive server has its own spelling.
  const { rows } = await ask(
    native,
    `SELECT ${inUtf8('VERSION()')}, ${inUtf8('@@GLOBAL.innodb_rollback_on_timeout + 0')}, ${inUtf8('@@SESSION.max_allowed_packet')},
       (SELECT ${inUtf8('schema_name')} FROM information_schema.schemata WHERE schema_name = CONVERT(${wanted} USING utf8)
        ORDER BY BINARY schema_name = ${wanted} DESC LIMIT 1) LIMIT 1`,
  )
  const [version, onTimeout, maxPacket, database] = rows[0] as readonly Cell[]
  const sessionDatabase = optionalTextIn(database) ?? configured
  return {
    isMariadb: /mariadb/i.test(textIn(version)),
    timeoutsEndTransactions: textIn(onTimeout) === '1',
    maxPacket: numberIn(maxPacket),
    sessionDatabase,
    database: sessionDatabase,
  }
}

/**
 * Whatever encoding somebody has left for the results of the session: the answer is kept for all of them. A switch of the
 * server becomes the text `ON` here, so it must be made a number first.
 */
function inUtf8(value: string): string {
  return `CAST(CONVERT(${value} USING utf8) AS BINARY)`
}

interface PoolWithConfig {
  readonly config?: { readonly connectionConfig?: { readonly database?: unknown } }
  readonly pool?: PoolWithConfig
}

/** mysql2 keeps it in the callback pool, which is inside the promise pool. */
export function configuredDatabase(pool: object): string | undefined {
  const { config, pool: inner } = pool as PoolWithConfig
  const database = config?.connectionConfig?.database ?? inner?.config?.connectionConfig?.database
  return typeof database === 'string' && database !== '' ? database : undefined
}
