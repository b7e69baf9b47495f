import { errorNumber } from './errors.ts'
import type { Runner } from './runner.ts'

/** The server ends statements with these errors when somebody kills them or they have taken too long. */
const interrupted = new Set([1317, 1969, 3024])

/** Whoever kills statements does not mean this one in particular, so it will hardly be hit so often. */
const mostTurns = 20

/**
 * This statement can be interrupted like any other, and then everything that it was to undo is still there: what a caller
 * commits after that would include half of the work, and the claim.
 */
export async function rollBackTo(runner: Runner, savepoint: string): Promise<void> {
  for (let turn = 1; ; turn++) {
    try {
      await runner.run(`ROLLBACK TO SAVEPOINT ${savepoint}`)
      return
    } catch (error) {
      if (!interrupted.has(errorNumber(error) ?? 0) || turn === mostTurns) throw error
    }
  }
}
