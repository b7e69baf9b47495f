import { mayUseSavepoint } from '../sql/savepoints.ts'
import type { Runner } from './runner.ts'
import type { Keeper, SessionKeeper } from './session-keeper.ts'
import type { ControlOptions } from './transaction-control.ts'

/** One loan may begin inside another, so every mark is unique. */
let marks = 0

/**
 * Ends what must end with a loan. A procedure may leave savepoints behind, under names that no text shows, and a later
 * borrower's procedure would roll back to them. So we set a savepoint before the call: releasing it releases all that came
 * after it.
 */
export class LoanKeeper implements Keeper {
  readonly #connection: Runner
  readonly #session: SessionKeeper
  readonly #marks: string[] = []
  #isMarked = false

  constructor(connection: Runner, session: SessionKeeper) {
    this.#connection = connection
    this.#session = session
  }

  before(sql: string, options: ControlOptions): void {
    const { isOpaque } = this.#session.before(sql, options)
    // This may release the last mark.
    if (mayUseSavepoint(sql)) this.#isMarked = false
    if (!isOpaque || this.#isMarked) return
    this.#isMarked = true
    const mark = `justonce_loan_${++marks}`
    this.#marks.push(mark)
    // If this fails, so does the next statement.
    this.#connection.run(`SAVEPOINT ${mark}`).catch(() => {})
  }

  end(): void {
    // Marks that no longer exist were released with an earlier one.
    for (const mark of this.#marks) this.#connection.run(`RELEASE SAVEPOINT ${mark}`).catch(() => {})
    this.#marks.length = 0
    this.#isMarked = false
    this.#session.end()
  }
}
