import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import { classify, isBadSession } from './errors.ts'
import { optionalTextIn, textIn } from './literals-and-cells.ts'
import type { Answer } from './runner.ts'
import type { Server } from './server.ts'
import type { Tables } from './tables.ts'

/** How long caches may rely on an epoch without asking again; see `RecentCommits`. */
const askEveryMs = 1_000

interface Known {
  readonly text: string
  readonly at: number
}

/**
 * Which database the rows of a connection come from. The epoch in our table is not enough: it is restored with a backup, and
 * then says that nothing has changed. The start time of the server cannot be restored, and no data folder is put in place
 * without another start; a replica that takes over has other names. Dumps are restored into a running server: then the table
 * was created at another time, or in another database.
 *
 * The identity is read together with the epoch, once a second on each connection. If the server refuses to say it, only the
 * row counts.
 */
export class Identities {
  readonly #known = new WeakMap<object, Known>()
  readonly #tables: Tables
  #isRefused = false

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** Returns the epoch and the horizon. */
  async read(
    connection: MysqlConnection<MysqlConnectionShape>,
  ): Promise<{ readonly epoch: string; readonly row: Answer['rows'][number] }> {
    const { server, session } = connection
    const known = this.#known.get(session)
    const isDue = known === undefined || performance.now() - known.at > askEveryMs
    if (!isDue || this.#isRefused) return this.#answer(await connection.run(epochAndHorizon(this.#tables)), known)
    try {
      const at = performance.now()
      const answer = await connection.run(epochAndHorizon(this.#tables, identityText(this.#tables, server)))
      const fresh = { text: optionalTextIn(answer.rows[0]?.[2]) ?? '', at }
      this.#known.set(session, fresh)
      return this.#answer(answer, fresh)
    } catch (error) {
      if (connection.lost() !== undefined || (classify(error) !== 'none' && !isBadSession(error))) throw error
      const answer = await connection.run(epochAndHorizon(this.#tables))
      this.#isRefused = true
      return this.#answer(answer, undefined)
    }
  }

  #answer({ rows }: Answer, known: Known | undefined) {
    const row = rows[0] ?? []
    return { epoch: [textIn(row[0]), known?.text].filter((part) => part !== undefined).join('.'), row }
  }
}

export function epochAndHorizon({ meta }: Tables, also?: string): string {
  return `SELECT epoch, horizon${also === undefined ? '' : `, ${also}`} FROM ${meta}`
}

/** Unknown values are NULL and left out. Both times of the difference are read at the same moment, so it is exact. */
function identityText({ metaName, databaseValue }: Tables, { isMariadb }: Server): string {
  const status = isMariadb ? 'information_schema.GLOBAL_STATUS' : 'performance_schema.global_status'
  const name = isMariadb ? '@@GLOBAL.server_id' : '@@GLOBAL.server_uuid'
  return `CONCAT_WS('.', ${name}, @@GLOBAL.hostname, @@GLOBAL.port, ${databaseValue},
    UNIX_TIMESTAMP() - (SELECT VARIABLE_VALUE FROM ${status} WHERE VARIABLE_NAME = 'UPTIME'),
    (SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = ${databaseValue} AND TABLE_NAME = '${metaName}'))`
}
