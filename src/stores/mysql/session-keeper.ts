import type { Suspension } from './provisional.ts'
import { findSessionChanges, type SessionChanges } from './session-changes.ts'
import type { ControlOptions } from './transaction-control.ts'

/** The connection of a transaction. Statements run in the order in which they are passed to it. */
export interface KeptConnection {
  run(sql: string): Promise<unknown>
  /** More of the session was changed than by the opening of the transaction. */
  sessionChanged(): void
  /** The session could not be restored, so nobody must get it again. */
  sessionLost(): void
}

/** Settings that are known when the transaction is opened, and restored together; see `session.ts`. */
export interface Baseline {
  readonly names: ReadonlySet<string>
  /** Statements that restore the session. */
  readonly statements: readonly string[]
}

/** Follows what a borrower does, by the texts of its statements. */
export interface Keeper {
  /** Must be called right before a statement of a borrower is sent. */
  before(sql: string, options: ControlOptions): void
  /** Called when the loan ends. */
  end(): void
}

/** Suspends the claims of a transaction, ours or joined, before a statement that may commit. */
export function suspendFor(suspension: Suspension, sql: string, options: ControlOptions): SessionChanges {
  const changes = findSessionChanges(sql, options)
  if (changes.makesSavepoint) suspension.mayBeUndone()
  if (changes.isOpaque) suspension.suspend()
  return changes
}

/** Their values are not what they were set to: each use changes them, or they follow the clock. */
const fleeting = new Set(['INSERT_ID', 'LAST_INSERT_ID', 'IDENTITY', 'RAND_SEED1', 'RAND_SEED2', 'ERROR_COUNT'])

/**
 * What borrowers of one transaction change in its session. Each change ends with its loan. A statement right before the
 * change saves the variable, and a statement sent when the loan ends restores it, before anything of the next borrower.
 * Borrowers that change nothing pay nothing.
 */
export class SessionKeeper {
  readonly #connection: KeptConnection
  readonly #baseline: Baseline
  readonly #suspension: Suspension
  readonly #variables = new Map<string, string>()
  #temporary: string[] = []
  #isChanged = false

  constructor(connection: KeptConnection, baseline: Baseline, suspension: Suspension) {
    this.#connection = connection
    this.#baseline = baseline
    this.#suspension = suspension
  }

  before(sql: string, options: ControlOptions): Pick<SessionChanges, 'isOpaque'> {
    const { variables, temporary, movesElsewhere, isOpaque } = suspendFor(this.#suspension, sql, options)
    this.#temporary.push(...temporary.map((name) => name.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.')))
    for (const name of variables) this.#keep(name)
    if (!movesElsewhere && !isOpaque && variables.length === 0) return { isOpaque }
    this.#isChanged = true
    this.#connection.sessionChanged()
    return { isOpaque }
  }

  #keep(name: string): void {
    if (this.#baseline.names.has(name) || this.#variables.has(name) || !/^[A-Z_]\w*$/.test(name)) return
    if (fleeting.has(name)) return
    if (name === 'TIMESTAMP') return void this.#variables.set(name, 'DEFAULT')
    const kept = `@justonce_loan_${this.#variables.size}`
    this.#variables.set(name, kept)
    // If there is no such variable, the borrower's statement fails as well, and there is nothing to restore.
    this.#connection.run(`SET ${kept} = @@SESSION.${name}`).catch(() => this.#variables.delete(name))
  }

  /** Restores what has been changed so far. Nobody needs to wait for it. */
  end(): void {
    const statements = this.#temporary.map((name) => `DROP TEMPORARY TABLE IF EXISTS ${name}`)
    if (this.#isChanged) statements.push(...this.#baseline.statements)
    for (const [name, value] of this.#variables) statements.push(`SET @@SESSION.${name} = ${value}`)
    this.#temporary = []
    this.#variables.clear()
    this.#isChanged = false
    for (const sql of statements) this.#connection.run(sql).catch(() => this.#connection.sessionLost())
  }
}
