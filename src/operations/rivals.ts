import { JustonceError } from '../errors/index.ts'

/** Another operator or process has changed the same thing meanwhile: nothing may be committed, and the work starts again. */
export class RivalError extends Error {
  override readonly name = 'RivalError'
}

const mostTurns = 100

/** Repeats the work as long as another change comes first. */
export async function despiteRivals<T>(work: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RivalError)) throw error
      if (turn === mostTurns)
        throw new JustonceError('STORE_BUSY', { message: 'Others change the same redrives all the time.' })
    }
  }
}
