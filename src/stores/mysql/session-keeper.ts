import type { Suspension } from './provisional.ts'
import { findSessionChanges, type SessionChanges } from './session-changes.ts'
import type { ControlOptions } from './transaction-control.ts'

/** The connection of a transaction: statements are run in the order in which they are given to it. */
export interface KeptConnection {
  run(sql: string): Promise<unknown>
  /** More of the session has been changed than the opening of the transaction did. */
  sessionChanged(): void
  /** The session could not be put right: nobody must get it again. */
  sessionLost(): void
}

/** Known when the transaction is opened, and put back together; see `session.ts`. */
export interface Baseline {
  readonly names: ReadonlySet<string>
  /** Statements after which the session is as it was. */
  readonly statements: readonly string[]
}

/** Told of what a borrower does, by the text of it. */
export interface Keeper {
  /** To be called right before a statement of a borrower is sent. */
  before(sql: string, options: ControlOptions): void
  /** The loan is over. */
  end(): void
}

/** Suspends what the transaction has claimed before a statement that may commit, whoever's transaction it is. */
export function suspendFor(suspension: Suspension, sql: string, options: ControlOptions): SessionChanges {
  const changes = findSessionChanges(sql, options)
  if (changes.makesSavepoint) suspension.mayBeUndone()
  if (changes.isOpaque) suspension.suspend()
  return changes
}

/** What they say is not what they were set to: each use changes them, or they follow the clock. */
const fleeting = new Set(['INSERT_ID', 'LAST_INSERT_ID', 'IDENTITY', 'RAND_SEED1', 'RAND_SEED2', 'ERROR_COUNT'])

/**
 * What borrowers of one transaction change of its session. Each change ends with the loan that made it: what a variable
 * was is kept by a statement right before the one that sets it, and put back by one that is sent when the loan ends, so
 * that it comes before anything of the next borrower. Whoever changes nothing pays nothing.
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
    // There may be no such variable: then the borrower's statement fails as well, and nothing has to be put back.
    this.#connection.run(`SET ${kept} = @@SESSION.${name}`).catch(() => this.#variables.delete(name))
  }

  /** Puts right what has been changed so far. Nobody needs to wait for it. */
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
