import { isJustonceError, JustonceError } from '../errors/index.ts'

/** Another operator or process has changed the same thing meanwhile: nothing may be committed, and the work starts again. */
export class RivalError extends Error {
  override readonly name = 'RivalError'
}

/** Whether another change came first. A store may detect that only at the commit. */
export function isRival(error: unknown): boolean {
  return error instanceof RivalError || isJustonceError(error, 'CLAIM_LOST')
}

const mostTurns = 100

/** Repeats the work as long as another change comes first. */
export async function despiteRivals<T>(work: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    try {
      return await work()
    } catch (error) {
      if (!isRival(error)) throw error
      if (turn === mostTurns)
        throw new JustonceError('STORE_BUSY', { message: 'Others keep changing the same redrives.' })
    }
  }
}
