import type { Server } from './server.ts'
import type { Baseline } from './session-keeper.ts'
import { quotedName } from './tables.ts'

export interface SessionLimits {
  readonly lockTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly statementTimeoutMs?: number | undefined
}

/** Session settings that our transactions change, by their names on the server. */
function ours({ isMariadb }: Server) {
  return {
    autocommit: 'autocommit',
    isolation: isMariadb ? 'tx_isolation' : 'transaction_isolation',
    readOnly: isMariadb ? 'tx_read_only' : 'transaction_read_only',
    lockWait: 'innodb_lock_wait_timeout',
    tableLockWait: 'lock_wait_timeout',
    idle: isMariadb ? 'idle_transaction_timeout' : 'wait_timeout',
    // Where these are set, MariaDB does not look at the one above.
    ...(isMariadb && {
      idleWriting: 'idle_write_transaction_timeout',
      idleReading: 'idle_readonly_transaction_timeout',
    }),
    statement: isMariadb ? 'max_statement_time' : 'max_execution_time',
    // The previous user may have left these in a state in which our statements fail or read too little.
    selectLimit: 'sql_select_limit',
    safeUpdates: 'sql_safe_updates',
    uniqueChecks: 'unique_checks',
    bigSelects: 'sql_big_selects',
  }
}

/** Settings of the user. A handler may change them, or call something that does, and other handlers must not notice. */
const users = [
  ...['sql_mode', 'foreign_key_checks', 'time_zone', 'default_storage_engine', 'group_concat_max_len'],
  ...['character_set_client', 'character_set_connection', 'character_set_results', 'collation_connection'],
]

/** In these a number is more bytes than its digits, so nothing that we read would be what it is. All others leave digits alone. */
const wide = `'utf16', 'utf16le', 'utf32', 'ucs2'`
const narrow = (results: string) =>
  `@@SESSION.character_set_results = IF(${results} IN (${wide}), 'utf8mb4', ${results})`

const keptAs = (name: string) => `@justonce_${name}`
const keep = (name: string) => `${keptAs(name)} = @@SESSION.${name}`
const giveBack = (name: string) => `@@SESSION.${name} = ${keptAs(name)}`

/**
 * Saves the settings of the session and sets what our transactions need, in one statement. It fails as a whole, with
 * `elsewhere`, if the session is in another database than it should be: that cannot be set here, and mostly it need not be.
 */
export function takeSession(server: Server, limits: SessionLimits): string {
  const kept = [...Object.values(ours(server)), ...users].map(keep)
  return `SET ${[...kept, ...settings(server, limits), narrow('@@SESSION.character_set_results')].join(', ')}`
}

/** The number of the error by which a session reports that it is in another database: a wrong value. */
export const elsewhere = 1231

function settings(server: Server, { lockTimeoutMs, idleTimeoutMs, statementTimeoutMs }: SessionLimits): string[] {
  const { autocommit, isolation, readOnly, lockWait, tableLockWait, idle, statement, ...more } = ours(server)
  const set = (name: string, value: string | number) => `@@SESSION.${name} = ${value}`
  const statementLimit = server.isMariadb
    ? (Math.max(1, statementTimeoutMs ?? 0) / 1000).toFixed(3)
    : Math.max(1, Math.ceil(statementTimeoutMs ?? 0))
  return [
    // A deadlock ends the transaction. What a handler writes after that must not be committed on its own.
    set(autocommit, `IF(${isAtHome(server)}, 0, 7)`),
    set(isolation, `'READ-COMMITTED'`),
    set(readOnly, 0),
    set(lockWait, seconds(lockTimeoutMs)),
    // The timeout for table locks, which ALTER takes. By default it is a day or a year.
    set(tableLockWait, seconds(lockTimeoutMs)),
    ...[idle, more.idleWriting, more.idleReading].flatMap((name) =>
      name === undefined ? [] : set(name, seconds(idleTimeoutMs)),
    ),
    set(more.selectLimit, '18446744073709551615'),
    set(more.safeUpdates, 0),
    set(more.uniqueChecks, 1),
    set(more.bigSelects, 1),
    // Resets a clock that someone has set for the session. Whether it was set cannot be queried, so it is not restored.
    set('timestamp', 'DEFAULT'),
    // Resets the number that the next row of any table gets: our row with it would be mistaken for the one to park.
    ...(server.isMariadb ? [set('insert_id', 'DEFAULT')] : []),
    ...(statementTimeoutMs === undefined ? [] : [set(statement, statementLimit)]),
  ]
}

/** For the rest of a transaction. The session is restored at its end, whatever is set in between. */
export function lockTimeout(ms: number): string {
  return `SET @@SESSION.innodb_lock_wait_timeout = ${seconds(ms)}, @@SESSION.lock_wait_timeout = ${seconds(ms)}`
}

/** If the user's sessions have no database, there is none to return to. */
function isAtHome({ sessionDatabase }: Server): string {
  return sessionDatabase === undefined ? 'TRUE' : `DATABASE() <=> x'${Buffer.from(sessionDatabase).toString('hex')}'`
}

/** Restores the session for the next user of the connection. */
export function giveSessionBack(server: Server, { all }: { readonly all: boolean }): string {
  return `SET ${[...Object.values(ours(server)), ...(all ? users : [])].map(giveBack).join(', ')}`
}

/** What `takeSession` has saved and set, and how to restore it for the next handler in the same transaction. */
export function baselineOf(server: Server, limits: SessionLimits): Baseline {
  const { sessionDatabase } = server
  const names = [...Object.values(ours(server)), ...users].map((name) => name.toUpperCase())
  return {
    names: new Set([...names, 'TX_ISOLATION', 'TX_READ_ONLY', 'TRANSACTION_ISOLATION', 'TRANSACTION_READ_ONLY']),
    statements: [
      ...(sessionDatabase === undefined ? [] : [`USE ${quotedName(sessionDatabase)}`]),
      `SET ${[...users.map(giveBack), ...settings(server, limits), narrow(keptAs('character_set_results'))].join(', ')}`,
    ],
  }
}

/** The server accepts only whole seconds; 0 would mean "not at all" or "forever". */
function seconds(ms: number): number {
  return Math.max(1, Math.min(31_536_000, Math.ceil(ms / 1000)))
}
