import { type Cell, textIn } from './cells.ts'
import type { Runner } from './runner.ts'

/** What has to be known about a server before a transaction can be opened on it. */
export interface Server {
  readonly isMariadb: boolean
  /** A lock timeout undoes the whole transaction instead of the statement (`innodb_rollback_on_timeout`). */
  readonly timeoutsEndTransactions: boolean
  /** As the user's sessions have it. */
  readonly autocommits: boolean
}

export interface SessionLimits {
  readonly lockTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly statementTimeoutMs?: number | undefined
}

export async function askServer(runner: Runner): Promise<Server> {
  const { rows } = await runner.run('SELECT VERSION(), @@GLOBAL.innodb_rollback_on_timeout, @@SESSION.autocommit')
  const [version, onTimeout, autocommit] = rows[0] as readonly Cell[]
  return {
    isMariadb: /mariadb/i.test(textIn(version)),
    timeoutsEndTransactions: textIn(onTimeout) === '1',
    autocommits: textIn(autocommit) === '1',
  }
}

/** Settings of the session, the names they have on the server, and where the user's values are kept meanwhile. */
function variables({ isMariadb }: Server) {
  return {
    autocommit: 'autocommit',
    isolation: isMariadb ? 'tx_isolation' : 'transaction_isolation',
    lockWait: 'innodb_lock_wait_timeout',
    idle: isMariadb ? 'idle_transaction_timeout' : 'wait_timeout',
    statement: isMariadb ? 'max_statement_time' : 'max_execution_time',
  }
}

const keptAs = (name: string) => `@justonce_${name}`

/** Keeps what the session had, and sets what our transactions need, in one statement. */
export function takeSession(server: Server, limits: SessionLimits): string {
  const names = variables(server)
  const kept = Object.values(names).map((name) => `${keptAs(name)} = @@SESSION.${name}`)
  return `SET ${[...kept, ...settings(server, limits)].join(', ')}`
}

function settings(server: Server, { lockTimeoutMs, idleTimeoutMs, statementTimeoutMs }: SessionLimits): string[] {
  const { autocommit, isolation, lockWait, idle, statement } = variables(server)
  const set = (name: string, value: string | number) => `@@SESSION.${name} = ${value}`
  const statementLimit = server.isMariadb
    ? (Math.max(1, statementTimeoutMs ?? 0) / 1000).toFixed(3)
    : Math.max(1, Math.ceil(statementTimeoutMs ?? 0))
  return [
    // A deadlock ends the transaction. What a handler writes after that must not stand by itself.
    set(autocommit, 0),
    set(isolation, `'READ-COMMITTED'`),
    set(lockWait, seconds(lockTimeoutMs)),
    set(idle, seconds(idleTimeoutMs)),
    ...(statementTimeoutMs === undefined ? [] : [set(statement, statementLimit)]),
  ]
}

/** As the session was before, for whoever has the connection next. */
export function giveSessionBack(server: Server): string {
  return `SET ${Object.values(variables(server))
    .map((name) => `@@SESSION.${name} = ${keptAs(name)}`)
    .join(', ')}`
}

/** The server knows whole seconds only; 0 would mean "not at all" or "for ever". */
function seconds(ms: number): number {
  return Math.max(1, Math.min(31_536_000, Math.ceil(ms / 1000)))
}
