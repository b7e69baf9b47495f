import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Loan, LoanOptions, Parts, Positions, Queue, Retention, Store } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { FairMutex } from '../shared/fair-mutex.ts'
import { NestedTurns } from '../shared/nested-turns.ts'
import { systemTimers } from '../shared/system-timers.ts'
import { Connection, type Origin } from './connection.ts'
import { sqliteFacts } from './facts.ts'
import { Guard } from './guard.ts'
import { sqliteInbox } from './inbox.ts'
import { guardOf, lentDatabase } from './lent-database.ts'
import {
  checkSqliteOptions,
  type SqliteGivenOptions,
  type SqliteOpenOptions,
  type SqlitePathOptions,
} from './options.ts'
import { sqliteParking } from './parking.ts'
import { sqliteParts } from './parts.ts'
import { sqlitePositions } from './positions.ts'
import { sqliteQueue } from './queue.ts'
import { queueWatch } from './queue-watch.ts'
import { connectedReader, sharedReader } from './reader.ts'
import { recordsSize } from './records-size.ts'
import { sqliteRetention } from './retention.ts'
import { hasTables, sqliteSchema } from './schema.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { classify, closedError } from './sqlite-errors.ts'
import { now } from './statements.ts'
import { Transactions } from './transactions.ts'
import { sqliteWarnings } from './warnings.ts'
import { joinedStore } from './within.ts'

/** A store in a SQLite database. It can do everything a store can do. */
export interface SqliteStore<Database> extends Store<Database> {
  readonly parts: Parts<Database>
  readonly queue: Queue<Database>
  readonly retention: Retention
  readonly positions: Positions<Database>
}

/**
 * A store in a SQLite file, on a connection of its own. `tx` is the native connection.
 *
 * @example
 * const store = sqliteStore({ path: 'app.db' })
 * const store = sqliteStore({ path: 'app.db', open: (path) => new BetterSqlite3(path) })
 */
export function sqliteStore(options: SqlitePathOptions): SqliteStore<DatabaseSync>
export function sqliteStore<Database extends SqliteDatabase>(
  options: SqliteOpenOptions<Database> | SqliteGivenOptions<Database>,
): SqliteStore<Database>
export function sqliteStore(
  options: SqlitePathOptions | SqliteOpenOptions<SqliteDatabase> | SqliteGivenOptions<SqliteDatabase>,
): SqliteStore<SqliteDatabase> {
  checkSqliteOptions(options)
  const busyTimeoutMs = options.busyTimeoutMs ?? 10_000
  const patience = { patienceMs: busyTimeoutMs }
  const origin = originOf(options)
  const turns = new FairMutex(systemTimers, busyTimeoutMs)
  const canOpenAnother = origin.kind === 'opened' && 'path' in options && !inMemory.test(options.path)
  const another = canOpenAnother ? connectedReader(origin, patience) : undefined
  const connection = new Connection(origin, another)
  const transactions = new Transactions(connection, turns, busyTimeoutMs)
  const reader = another ?? sharedReader(connection, turns, patience)
  const watch = queueWatch(reader)
  const inbox = sqliteInbox<SqliteDatabase>(reader)
  const savepointTurns = new NestedTurns(systemTimers, busyTimeoutMs)
  return {
    name: 'sqlite',
    guarantee: 'atomic',
    capabilities: { revocable: true, connections: 1, interleaves: true },
    transaction: (work, options) => transactions.run(work, options),
    parts: sqliteParts(),
    lend,
    within: (tx) => joinedStore(tx, { inbox, savepointTurns, lend }),
    inbox: { ...inbox, size: recordsSize(reader) },
    parking: sqliteParking(transactions, reader),
    facts: sqliteFacts(transactions, reader),
    retention: sqliteRetention(transactions, reader),
    positions: sqlitePositions(reader),
    queue: sqliteQueue(transactions, reader, watch),
    schema: sqliteSchema(transactions, reader),
    warnings: (options) => sqliteWarnings(reader, options),
    classify,
    // A real write, because on a full or read-only disk a transaction can begin but not commit.
    ping: () =>
      transactions.short((statements) => {
        if (!hasTables(statements)) return
        statements.run(touch)
        // A full file may still have room for that write, but not for a message.
        statements.exec('SAVEPOINT justonce_ping')
        statements.run(`UPDATE main.justonce_meta SET epoch = zeroblob(1048576)`)
        statements.exec('ROLLBACK TO justonce_ping')
      }),
    async close() {
      watch.close()
      await turns.close(closedError())
      reader.close()
      connection.close()
    },
  }
}

const touch = `UPDATE main.justonce_meta SET pinged_at = ${now}`

/** Each connection to one of these would have its own database. */
const inMemory = /^:memory:$|^file::memory:|^file:.*[?&]mode=memory(?:&|$)/

/** Connections are opened when they are needed, and the process may be in another folder by then. */
function pathOf({ path }: SqlitePathOptions): string {
  return path === ':memory:' || path.startsWith('file:') ? path : resolve(path)
}

function originOf(
  options: SqlitePathOptions | SqliteOpenOptions<SqliteDatabase> | SqliteGivenOptions<SqliteDatabase>,
): Origin<SqliteDatabase> {
  if ('database' in options) return { kind: 'given', database: options.database }
  const path = pathOf(options)
  if ('open' in options) return { kind: 'opened', path, open: () => opened(options, path) }
  return {
    kind: 'opened',
    path,
    open: () => {
      // Loaded only here, so that better-sqlite3 can be used where node:sqlite is missing.
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
      return new DatabaseSync(path)
    },
  }
}

const known = new WeakSet<object>()

/** One connection for reading and writing would read what is not committed. */
function opened({ open }: SqliteOpenOptions<SqliteDatabase>, path: string): SqliteDatabase {
  const database = open(path)
  if (known.has(database))
    throw new JustonceError('OPTION_INVALID', {
      message: 'open() of sqliteStore() has returned the same connection again, and must open another one each time.',
    })
  known.add(database)
  return database
}

function lend<Database extends SqliteDatabase>(
  tx: Database,
  { borrower, onLateCall, interleaved }: LoanOptions,
): Loan<Database> {
  const parent = guardOf(tx)
  const database = (parent?.database ?? tx) as Database
  const guard = new Guard({ database, borrower: `the handler '${borrower}'`, onLateCall, interleaved, parent })
  return {
    tx: lentDatabase(database, guard),
    // Every call ends before it returns.
    settled: () => undefined,
    end() {
      guard.end()
      return { openCalls: 0, broken: guard.broken(), trouble: guard.trouble() }
    },
  }
}
