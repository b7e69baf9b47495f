import type { LastWrites } from '../../../src/contracts/index.ts'
import type { SimConnection, Statement } from '../database/connection.ts'
import type { Row } from '../database/sim-database.ts'
import { SimError } from '../database/sim-error.ts'
import { commit, insertIfAbsent, inTransaction, rollback, update } from '../database/statements.ts'

/** The native client of the simulated database: what handlers write through. Every call is a round trip. */
export interface SimTx {
  insert(table: string, key: string, row: Row): Promise<boolean>
  get(table: string, key: string): Promise<Row | undefined>
  update(table: string, key: string, change: (row: Row | undefined) => Row | undefined): Promise<void>
  /** A statement that the database refuses. */
  violate(): Promise<void>
  /** What a careless helper does; a facade can see it. */
  commit(): Promise<void>
  /** The same where no facade can see it: in a procedure, in the middle of a text. */
  hiddenCommit(): Promise<void>
  rollback(): Promise<void>
  /** A statement that the server answers as if it were away, with nothing wrong but this statement: a full table. */
  looksAway(): Promise<void>
  /** What ends its own connection. */
  cut(): Promise<void>
}

/** The client with what only the store may use. */
export interface SimClient extends SimTx {
  readonly connection: SimConnection
  /** The number of the open part; 0 if there is none. */
  part: number
  /** From here on writes are left for the commit. */
  readonly lastWrites: LastWrites
  /** What the commit must take along. */
  readonly left: LeftWrite[]
  /** Runs a statement of the store, or leaves it for the commit. */
  write(step: string, statement: Statement<void>): Promise<void>
}

export interface LeftWrite {
  readonly statement: Statement<void>
  blame(error: unknown): unknown
}

export function simClient(connection: SimConnection): SimClient {
  let blame: LeftWrite['blame'] | undefined
  const left: LeftWrite[] = []
  return {
    connection,
    part: 0,
    left,
    lastWrites(given) {
      blame = given
    },
    async write(step, statement) {
      if (blame === undefined) await connection.call(step, statement)
      else left.push({ statement, blame })
    },
    insert: (table, key, row) =>
      connection.call(
        'query',
        inTransaction((tx, session) => insertIfAbsent(session, tx, table, key, row)),
      ),
    get: (table, key) =>
      connection.call(
        'query',
        inTransaction((tx, session) => session.database.read(tx, table, key)),
      ),
    update: (table, key, change) =>
      connection.call(
        'query',
        inTransaction((tx, session) => update(session, tx, table, key, change)),
      ),
    violate: () =>
      connection.call(
        'query',
        inTransaction(() => {
          throw new SimError('constraint', 'a constraint is violated')
        }),
      ),
    commit: async () => void (await connection.call('query', commit(false))),
    hiddenCommit: async () => void (await connection.call('query', commit(false))),
    rollback: () => connection.call('query', rollback()),
    looksAway: () =>
      connection.call(
        'query',
        inTransaction(() => {
          throw new SimError('server-down', 'the table is full')
        }),
      ),
    cut: async () => connection.discard(),
  }
}
