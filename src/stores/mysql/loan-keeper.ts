import { mayUseSavepoint } from '../sql/savepoints.ts'
import type { Runner } from './runner.ts'
import type { Keeper, SessionKeeper } from './session-keeper.ts'
import type { ControlOptions } from './transaction-control.ts'

/** One loan may begin inside another: no two of them have the same. */
let marks = 0

/**
 * What has to end with one loan. A procedure may leave savepoints behind, under names that no text shows, and a procedure
 * of a later borrower would go back to them. So a savepoint of ours is made before it is called: releasing that one
 * releases all that came after it.
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
    // It may take the last mark with it.
    if (mayUseSavepoint(sql)) this.#isMarked = false
    if (!isOpaque || this.#isMarked) return
    this.#isMarked = true
    const mark = `justonce_loan_${++marks}`
    this.#marks.push(mark)
    // Where this fails, so does whatever comes next.
    this.#connection.run(`SAVEPOINT ${mark}`).catch(() => {})
  }

  end(): void {
    // Those that are not there any more have gone with an earlier one.
    for (const mark of this.#marks) this.#connection.run(`RELEASE SAVEPOINT ${mark}`).catch(() => {})
    this.#marks.length = 0
    this.#isMarked = false
    this.#session.end()
  }
}
