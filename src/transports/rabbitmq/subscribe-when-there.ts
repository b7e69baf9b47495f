import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { replyCode } from './broker-errors.ts'
import type { AmqpConnection } from './client-shapes.ts'
import type { Incarnation, Subscription } from './incarnation.ts'

const notFound = 404
/** How long until a queue that was missing is looked for again. */
const lookAgainMs = 5_000

export interface Watch {
  readonly clock: Clock
  notice(error: JustonceError): void
}

/**
 * For a queue that others can do without: consuming one that is missing would close the channel and stop what is read
 * beside it. It is read once it is there.
 */
export async function subscribeWhenThere(
  connection: AmqpConnection,
  incarnation: Incarnation,
  subscription: Subscription,
  { clock, notice }: Watch,
): Promise<void> {
  const { queue } = subscription
  if (await isThere(connection, queue)) return incarnation.subscribe(subscription)
  notice(new JustonceError('BROKER_SETUP', { message: `The queue ${JSON.stringify(queue)} does not exist.` }))
  const lookAgain = async (): Promise<void> => {
    do {
      await clock.sleep(lookAgainMs, incarnation.over)
      if (incarnation.over.aborted) return
    } while (!(await isThere(connection, queue)))
    await incarnation.subscribe(subscription)
  }
  // It fails when the channel or the connection has ended, and what follows on that looks for itself.
  void lookAgain().catch(() => {})
}

/** Asked on a channel of its own, because the answer no closes it. */
async function isThere(connection: AmqpConnection, queue: string): Promise<boolean> {
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  try {
    await channel.checkQueue(queue)
  } catch (error) {
    if (replyCode(error) === notFound) return false
    throw error
  }
  await channel.close()
  return true
}
