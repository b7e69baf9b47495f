import type { Parts, Positions, Queue, Retention, Store } from '../../contracts/index.ts'
import { checkNumber, checkOptions } from '../../errors/index.ts'
import { AnswerWatch } from '../sql/answer-watch.ts'
import { defaultAnswerTimeoutMs } from '../sql/default-limits.ts'
import { atHome } from './at-home.ts'
import { checkNotBare, wrongClient } from './check-client.ts'
import type { PgClientShape, PgPoolShape, PostgresJsClientShape, PostgresJsShape } from './client-shapes.ts'
import type { Connections } from './connection.ts'
import { classify } from './errors.ts'
import { postgresFacts } from './facts.ts'
import { Home } from './home.ts'
import { claimedRecords } from './inbox/claimed-records.ts'
import { joinedInbox, postgresInbox } from './inbox/inbox.ts'
import { inboxStatements } from './inbox/inbox-statements.ts'
import { Partitions } from './inbox/partitions.ts'
import { recordsSize } from './inbox/records-size.ts'
import { postgresRetention } from './inbox/retention.ts'
import { postgresParking } from './parking/parking.ts'
import { pgConnections } from './pg/pg-connections.ts'
import { ping } from './ping.ts'
import { postgresPositions } from './positions.ts'
import { jsConnections } from './postgres-js/js-connections.ts'
import { postgresQueue } from './queue/queue.ts'
import { type QueueNews, queueNews } from './queue/queue-news.ts'
import { postgresSchema } from './schema.ts'
import { surroundings } from './surroundings.ts'
import { type Tables, tableNames } from './tables.ts'
import { joinedStore } from './transactions/joined-store.ts'
import { OpenTransactions } from './transactions/open-transaction.ts'
import { postgresParts } from './transactions/parts.ts'
import { runTransaction, setLockTimeout, settingsStatement, type TransactionParts } from './transactions/transaction.ts'
import { untilClosed } from './until-closed.ts'
import { postgresWarnings } from './warnings.ts'

/** What `postgresStore()` takes whichever client it has. */
export interface PostgresStoreOptions {
  /** The prefix of every table name. Default `justonce_`. */
  readonly prefix?: string | undefined
  /** The Postgres schema of the tables. Default: the first one in the connection's search_path. */
  readonly schema?: string | undefined
  /** Whether to use named prepared statements. Default true; set it to false behind a pooler that does not support them. */
  readonly prepare?: boolean | undefined
  /**
   * How long the server may take to answer a statement of the store itself. Then the connection counts as lost: a firewall may
   * have forgotten it. The wait for locks comes on top, and handlers' own statements are not limited by this. Default 60 000.
   */
  readonly answerTimeoutMs?: number | undefined
  /** Whether to learn of queued messages by LISTEN, on a separate connection. Default true; set it to false behind a pooler. */
  readonly listen?: boolean | undefined
}

/** `postgresStore()` over a pool of `pg`. */
export interface PgStoreOptions<Client extends PgClientShape> extends PostgresStoreOptions {
  /** A `Pool` of `pg`. The store does not end it. */
  readonly pool: PgPoolShape<Client>
}

/** `postgresStore()` over `postgres` (postgres.js). */
export interface PostgresJsStoreOptions<Sql extends PostgresJsShape> extends PostgresStoreOptions {
  /** What `postgres()` of postgres.js returns. The store does not end it. */
  readonly sql: PostgresJsClientShape<Sql>
}

/** `Tx` is the native client: `PoolClient` of pg, or the reserved `sql` of postgres.js. */
export interface PostgresStore<Tx> extends Store<Tx> {
  readonly parts: Parts<Tx>
  readonly queue: Queue<Tx>
  readonly positions: Positions<Tx>
  readonly retention: Retention
}

/**
 * Records, parked messages and queues in Postgres, in one transaction with what handlers write through `tx`.
 *
 * ```ts
 * postgresStore({ pool: new pg.Pool() })   // tx is a client of pg: tx.query(…)
 * postgresStore({ sql: postgres() })       // tx is a sql of postgres.js: tx`…`
 * ```
 */
export function postgresStore<Client extends PgClientShape>(options: PgStoreOptions<Client>): PostgresStore<Client>
export function postgresStore<Sql extends PostgresJsShape>(options: PostgresJsStoreOptions<Sql>): PostgresStore<Sql>
export function postgresStore(
  options: PgStoreOptions<PgClientShape> | PostgresJsStoreOptions<PostgresJsShape>,
): PostgresStore<PgClientShape> | PostgresStore<PostgresJsShape> {
  checkNotBare(options)
  checkOptions(options, ['pool', 'sql', 'prefix', 'schema', 'prepare', 'listen', 'answerTimeoutMs'], 'postgresStore()')
  const { prepare = true, answerTimeoutMs = defaultAnswerTimeoutMs } = options
  checkNumber(answerTimeoutMs, 'answerTimeoutMs', 1)
  const settings = { prepare, answers: new AnswerWatch(answerTimeoutMs) }
  const { pool, sql } = options as { pool?: PgPoolShape<PgClientShape>; sql?: PostgresJsClientShape<PostgresJsShape> }
  if (isPool(pool) && sql === undefined) return storeOn(pgConnections(pool, settings), options)
  if (typeof sql?.reserve === 'function' && pool === undefined) return storeOn(jsConnections(sql, settings), options)
  throw wrongClient({ pool, sql })
}

/** A single client also has a `connect`, but after one transaction everything would wait forever. */
function isPool(pool: PgPoolShape<PgClientShape> | undefined): pool is PgPoolShape<PgClientShape> {
  return typeof pool?.connect === 'function' && !('connectionParameters' in pool)
}

function storeOn<Tx>(
  open: Connections<Tx>,
  { prefix = 'justonce_', schema, listen = true }: PostgresStoreOptions,
): PostgresStore<Tx> {
  const { connections, close } = untilClosed(open)
  const tables = tableNames(prefix, schema)
  // Listening occupies a connection permanently. With two, only one would be left, and work that holds it may need another.
  const news = listen && connections.max > 2 ? queueNews(connections, tables.channel) : undefined
  const sketch = storeWith({ connections, close, news }, tables)
  if (schema !== undefined) return sketch
  const home = new Home<Tx, PostgresStore<Tx>>(connections, tables, (found) =>
    storeWith({ connections, close, news }, tableNames(prefix, schema, found)),
  )
  return atHome(sketch, home, connections)
}

interface StoreParts<Tx> {
  readonly connections: Connections<Tx>
  readonly news: QueueNews | undefined
  close(): void
}

function storeWith<Tx>({ connections, close, news }: StoreParts<Tx>, tables: Tables): PostgresStore<Tx> {
  const name = 'postgres'
  const transactions = new OpenTransactions(connections)
  const around = surroundings(connections)
  let known: TransactionParts<Tx> | undefined
  const look = async (): Promise<TransactionParts<Tx>> => {
    const found = await around()
    known ??= { connections, transactions, settings: settingsStatement(tables, found), unseen: found.unseen }
    return known
  }
  const partitions = new Partitions(connections, tables)
  const inboxParts = {
    connections,
    transactions,
    statements: inboxStatements(tables),
    claimedCalls: claimedRecords(tables),
    partitions,
  }
  const inbox = postgresInbox(inboxParts)
  const joined = { name, connections, transactions, inbox: joinedInbox(inbox, inboxParts) }

  return {
    name,
    guarantee: 'atomic',
    capabilities: { revocable: true, connections: connections.max, interleaves: true },
    transaction: (work, options = {}) =>
      known === undefined
        ? look().then((found) => runTransaction(found, work, options))
        : runTransaction(known, work, options),
    setLockTimeout: (tx, lockTimeoutMs) => setLockTimeout(transactions.runner(tx), lockTimeoutMs),
    parts: postgresParts(transactions),
    lend: (tx, options) => transactions.get(tx).lend(connections, options),
    within: (tx) => joinedStore(joined, tx),
    inbox: { ...inbox, size: recordsSize(connections, tables) },
    parking: postgresParking(connections, transactions, tables),
    facts: postgresFacts(connections, transactions, tables),
    positions: postgresPositions(connections, transactions, tables),
    retention: postgresRetention(connections, partitions, tables),
    queue: {
      ...postgresQueue(connections, transactions, tables),
      ...(news && {
        listen: news.listen,
        announce: (queue: string, tx?: Tx) =>
          news.announce(tx === undefined ? { run: connections.runAlone } : transactions.runner(tx), queue),
      }),
    },
    schema: postgresSchema(connections, tables),
    classify,
    ping: () => ping(connections, tables),
    warnings: (options) => postgresWarnings(connections, tables, options),
    async close() {
      close()
      await news?.close()
    },
  }
}
