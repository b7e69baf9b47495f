import type { Clock } from '../../contracts/index.ts'
import type { JustonceError } from '../../errors/index.ts'
import { brokerError, replyCode } from './broker-errors.ts'
import type { ChannelLife } from './channel-life.ts'
import type { AmqpConnection } from './client-shapes.ts'
import type { RabbitmqTransportOptions } from './options.ts'

/** How often the bindings are declared again. */
const renewMs = 30_000

/** A user may have no more channels, and the whole connection is gone. */
const notAllowed = 530

export interface Renewal {
  readonly clock: Clock
  notice(error: JustonceError): void
  /** The client's error when the connection was lost. */
  whyLost(): unknown
}

/**
 * Who deletes an exchange and makes it again has removed its bindings, and the broker tells no consumer: its queue would stay
 * empty until it opens its next channel. Resolves with false if the broker does not allow to look after them.
 */
export async function renewBindings(
  connection: AmqpConnection,
  life: ChannelLife,
  { queue, declare }: RabbitmqTransportOptions,
  { clock, notice, whyLost }: Renewal,
): Promise<boolean> {
  const said = new Set<string>()
  for (;;) {
    await clock.sleep(renewMs, life.over)
    if (life.over.aborted) return replyCode(whyLost()) !== notAllowed
    for (const { exchange, routingKey } of declare?.bindings ?? []) {
      const name = JSON.stringify([exchange, routingKey])
      const refusal = await refusalOf(connection, (channel) => channel.bindQueue(queue, exchange, routingKey))
      // An error caused by the end of the connection says nothing about the exchange.
      if (life.over.aborted) return replyCode(whyLost()) !== notAllowed
      if (refusal === undefined) said.delete(name)
      else if (!said.has(name)) {
        said.add(name)
        const doing = `The queue ${JSON.stringify(queue)} gets nothing from the exchange ${JSON.stringify(exchange)}`
        notice(brokerError(refusal, doing))
      }
    }
  }
}

type Channel = Awaited<ReturnType<AmqpConnection['createChannel']>>

/** Uses a separate channel, because a refusal closes it. */
async function refusalOf(
  connection: AmqpConnection,
  ask: (channel: Channel) => PromiseLike<unknown>,
): Promise<unknown> {
  try {
    const channel = await connection.createChannel()
    channel.on('error', () => {})
    await ask(channel)
    await channel.close()
    return undefined
  } catch (error) {
    return error
  }
}
