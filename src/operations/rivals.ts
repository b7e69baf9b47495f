import { JustonceError } from '../errors/index.ts'

/** Somebody else has changed meanwhile what was to be changed: nothing may be committed, and it is begun again. */
export class RivalError extends Error {
  override readonly name = 'RivalError'
}

const mostTurns = 100

/** Does the work again as long as a rival comes first. */
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
