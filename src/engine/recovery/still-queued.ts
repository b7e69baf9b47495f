import type { Delivery } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { inTransaction } from '../batch/process-batch.ts'
import type { Attempts } from './attempts.ts'

/**
 * Why a message cannot be let go although it was missing at the commit; `undefined` if it is no longer in its queue. A database may
 * leave a row where it is without calling that an error, and then the message is not gone: it would come back again and again.
 */
export async function whyNotGone<Tx>({ engine, feed }: Attempts<Tx>, delivery: Delivery): Promise<unknown> {
  const { inside } = feed
  try {
    await inTransaction(engine, engine.timing.aloneLockTimeoutMs, async (tx) => inside?.settle(tx, [], [delivery]))
  } catch (error) {
    return isJustonceError(error, 'DELIVERY_GONE') ? undefined : error
  }
  return new JustonceError('STORE_DENIED', {
    message:
      'The database reported no error, but a message that was removed from its queue is still there: row-level security, a rule or a trigger keeps the store from it.',
  })
}
