import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import { classify, isBadSession } from './errors.ts'
import { bytes, integer, optionalNumberIn, optionalTextIn, textIn } from './literals-and-cells.ts'
import type { Answer, Runner } from './runner.ts'
import type { Server } from './server.ts'
import type { Tables } from './tables.ts'

/** How long caches may rely on an epoch without asking again; see `RecentCommits`. */
const askEveryMs = 1_000

/** What a session was told last, and when it was asked for its identity. */
interface Known {
  readonly identity: string | undefined
  readonly at: number
  readonly told: Told
}

/** What our table says of the whole store. */
export interface Told {
  /** As it is in the row. */
  readonly rowEpoch: string
  readonly horizonMs: number | undefined
}

export interface Seen extends Told {
  /** With the identity of the database: what caches compare. */
  readonly epoch: string
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

  /**
   * What this session was told less than a second ago. It may have changed since, so whoever relies on it makes the statement
   * prove it (see `stillSays`), which saves a trip to read it.
   */
  recall({ session }: MysqlConnection<MysqlConnectionShape>): Seen | undefined {
    const known = this.#known.get(session)
    return known === undefined || isOld(known) ? undefined : seen(known)
  }

  async read(connection: MysqlConnection<MysqlConnectionShape>): Promise<Seen> {
    const { server, session } = connection
    const before = this.#known.get(session)
    const at = performance.now()
    if (this.#isRefused)
      return this.#keep(session, { identity: undefined, at, told: await ask(connection, this.#tables) })
    if (before !== undefined && !isOld(before))
      return this.#keep(session, { ...before, told: await ask(connection, this.#tables) })
    try {
      const { rows } = await connection.run(epochAndHorizon(this.#tables, identityText(this.#tables, server)))
      return this.#keep(session, { identity: optionalTextIn(rows[0]?.[2]) ?? '', at, told: toldIn(rows) })
    } catch (error) {
      if (connection.lost() !== undefined || (classify(error) !== 'none' && !isBadSession(error))) throw error
      const told = await ask(connection, this.#tables)
      this.#isRefused = true
      return this.#keep(session, { identity: undefined, at, told })
    }
  }

  #keep(session: object, known: Known): Seen {
    this.#known.set(session, known)
    return seen(known)
  }
}

function isOld({ at }: Known): boolean {
  return performance.now() - at > askEveryMs
}

function seen({ identity, told }: Known): Seen {
  return { ...told, epoch: [told.rowEpoch, identity].filter((part) => part !== undefined).join('.') }
}

async function ask(runner: Runner, tables: Tables): Promise<Told> {
  return toldIn((await runner.run(epochAndHorizon(tables))).rows)
}

export function toldIn([row]: Answer['rows']): Told {
  return { rowEpoch: textIn(row?.[0]), horizonMs: optionalNumberIn(row?.[1]) }
}

/** A condition on the row of our table: it says what it said. */
export function stillSays({ rowEpoch, horizonMs }: Told): string {
  return `epoch = ${bytes(rowEpoch)} AND horizon <=> ${integer(horizonMs)}`
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
