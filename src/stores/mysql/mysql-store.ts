import type { Parts, Positions, Queue, Retention, Store } from '../../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { AnswerWatch } from '../sql/answer-watch.ts'
import { defaultAnswerTimeoutMs, defaultLimits } from '../sql/default-limits.ts'
import type { MysqlConnectionShape, MysqlPoolShape } from './client-shapes.ts'
import { Connections } from './connections.ts'
import { classify } from './errors.ts'
import { mysqlFacts } from './facts.ts'
import { mysqlInbox } from './inbox.ts'
import { joinedStore } from './joined-store.ts'
import { JoinedTransactions } from './joined-transaction.ts'
import { largestMessage } from './literals-and-cells.ts'
import { OpenTransactions } from './open-transaction.ts'
import { mysqlParking } from './parking.ts'
import { mysqlParts } from './parts.ts'
import { ping } from './ping.ts'
import { mysqlPositions } from './positions.ts'
import type { Claims } from './provisional.ts'
import { mysqlQueue } from './queue.ts'
import { recordsSize } from './records-size.ts'
import { mysqlRetention } from './retention.ts'
import { mysqlSchema } from './schema.ts'
import { lockTimeout } from './session.ts'
import { ShortTransactions } from './short-transactions.ts'
import { tableNames } from './tables.ts'
import { takeBackClaims } from './take-back.ts'
import { runTransaction } from './transaction.ts'
import { mysqlWarnings } from './warnings.ts'

/** What `mysqlStore()` takes. */
export interface MysqlStoreOptions<Connection extends MysqlConnectionShape> {
  /** A pool of `mysql2` or of `mysql2/promise`. The store does not end it. */
  readonly pool: MysqlPoolShape<Connection>
  /** The prefix of every table name. Default `justonce_`. */
  readonly prefix?: string | undefined
  /**
   * How long the server may take to answer a statement of the store itself. Then the connection counts as lost: a firewall may
   * have forgotten it. The wait for locks comes on top, and handlers' own statements are not limited by this. Default 60 000.
   */
  readonly answerTimeoutMs?: number | undefined
  /** The database of the tables, which must exist. Default: that of the connection. */
  readonly database?: string | undefined
}

/** `Tx` is a `PoolConnection` of `mysql2/promise`. */
export interface MysqlStore<Tx> extends Store<Tx> {
  readonly parts: Parts<Tx>
  readonly queue: Queue<Tx>
  readonly retention: Retention
  readonly positions: Positions<Tx>
}

/**
 * Records, parked messages and queues in MySQL or MariaDB, in one transaction with what handlers write through
 * `tx`.
 *
 * ```ts
 * mysqlStore({ pool: mysql.createPool(url) })   // tx is a connection of mysql2/promise: await tx.execute(…)
 * ```
 */
export function mysqlStore<Connection extends MysqlConnectionShape>(
  options: MysqlStoreOptions<Connection>,
): MysqlStore<Connection> {
  checkOptions(options, ['pool', 'prefix', 'database', 'answerTimeoutMs'], 'mysqlStore()')
  const { pool, prefix = 'justonce_', database, answerTimeoutMs = defaultAnswerTimeoutMs } = options
  checkNumber(answerTimeoutMs, 'answerTimeoutMs', 1)
  if (!isPool(pool)) {
    throw new JustonceError('OPTION_INVALID', { message: 'mysqlStore() needs a pool of mysql2 or of mysql2/promise.' })
  }
  const name = 'mysql'
  const tables = tableNames(prefix, database)
  const connections = new Connections(pool, new AnswerWatch(answerTimeoutMs))
  const short = new ShortTransactions(connections)
  const transactions = new OpenTransactions(tables, new JoinedTransactions(tables, connections))
  const takeBack = (claims: readonly Claims[]) => takeBackClaims(short, tables, claims)
  const inbox = mysqlInbox({ short, transactions, tables })

  return {
    name,
    guarantee: 'atomic',
    capabilities: { revocable: true, connections: connections.max },
    transaction: (work, limits = {}) => runTransaction({ connections, transactions, takeBack }, work, limits),
    async setLockTimeout(tx, lockTimeoutMs = defaultLimits.lockTimeoutMs) {
      await transactions.get(tx).connection.run(lockTimeout(lockTimeoutMs))
    },
    parts: mysqlParts(transactions),
    lend: (tx, loan) => transactions.get(tx).lend(loan),
    within: (tx) => joinedStore({ name, transactions, inbox }, tx),
    inbox: { ...inbox, size: recordsSize(short, tables) },
    parking: mysqlParking(short, transactions, tables),
    facts: mysqlFacts(short, transactions, tables),
    retention: mysqlRetention(short, tables),
    positions: mysqlPositions(short, transactions, tables),
    queue: mysqlQueue(short, transactions, tables),
    schema: mysqlSchema(connections, short, tables),
    warnings: (options) => mysqlWarnings(short, tables, options),
    limits: async () => ({ messageBytes: largestMessage((await connections.server()).maxPacket) }),
    classify,
    ping: () => ping({ read: (sql) => short.read(sql) }, tables),
    async close() {
      connections.close()
    },
  }
}

function isPool(pool: unknown): boolean {
  const { getConnection, promise } = (pool ?? {}) as { getConnection?: unknown; promise?: unknown }
  return typeof getConnection === 'function' || typeof promise === 'function'
}
