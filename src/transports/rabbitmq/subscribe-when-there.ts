import type { Clock } from '../../contracts/index.ts'
import type { JustonceError } from '../../errors/index.ts'
import { brokerError, replyCode } from './broker-errors.ts'
import type { ChannelLife, Subscription } from './channel-life.ts'
import type { AmqpConnection } from './client-shapes.ts'

/** Missing, or locked by a connection that has it exclusively. */
const notForNow = new Set<unknown>([404, 405])
/** How long until such a queue is checked again. */
const lookAgainMs = 5_000

export interface Watch {
  readonly clock: Clock
  notice(error: JustonceError): void
}

/**
 * For a queue that is optional: consuming a missing queue would close the channel and stop the others on it. It is read once it
 * exists.
 */
export async function subscribeWhenThere(
  connection: AmqpConnection,
  life: ChannelLife,
  subscription: Subscription,
  { clock, notice }: Watch,
): Promise<void> {
  const { queue } = subscription
  const refusal = await refusalOf(connection, queue)
  if (refusal === undefined) return life.subscribe(subscription)
  if (!notForNow.has(replyCode(refusal))) throw refusal
  let said = ''
  const say = (error: unknown): void => {
    const found = brokerError(error, `The queue ${JSON.stringify(queue)} cannot be read`)
    if (found.message !== said) notice(found)
    said = found.message
  }
  say(refusal)
  const lookAgain = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(lookAgainMs, life.over)
      if (life.over.aborted) return
      const again = await refusalOf(connection, queue)
      if (again === undefined) return life.subscribe(subscription)
      // An error caused by the end of the connection says nothing about the queue.
      if (!life.over.aborted) say(again)
    }
  }
  // It fails if the channel or the connection has ended. The next life then looks for the queue itself.
  void lookAgain().catch(() => {})
}

/** Uses a separate channel, because a refusal closes it. `undefined` if the queue can be read. */
async function refusalOf(connection: AmqpConnection, queue: string): Promise<unknown> {
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  try {
    await channel.checkQueue(queue)
  } catch (error) {
    return error
  }
  await channel.close()
  return undefined
}
