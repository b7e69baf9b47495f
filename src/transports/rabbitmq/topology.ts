import { JustonceError } from '../../errors/index.ts'
import type { AmqpChannel, AmqpMessage } from './client-shapes.ts'
import type { DeclareOptions, RabbitmqTransportOptions } from './options.ts'

/** Creates what was declared, or checks that it is as declared. Rejects if it exists and differs. */
export async function declareTopology(channel: AmqpChannel, options: RabbitmqTransportOptions): Promise<void> {
  const { queue, declare, deadLetterQueue } = options
  if (declare === undefined) return
  const { type = 'quorum', durable = true } = declare
  // Created first, because messages that the queue gives up on before it exists would be lost.
  if (deadLetterQueue !== undefined)
    await channel.assertQueue(deadLetterQueue, { durable, arguments: { 'x-queue-type': type } })
  await channel.assertQueue(queue, { durable, arguments: queueArguments(declare, options) })
  for (const { exchange, routingKey } of declare.bindings ?? []) await channel.bindQueue(queue, exchange, routingKey)
}

export function queueArguments(
  { type = 'quorum', deliveryLimit, arguments: more }: DeclareOptions,
  { singleActiveConsumer = false, deadLetterQueue }: RabbitmqTransportOptions,
): Record<string, unknown> {
  return {
    'x-queue-type': type,
    ...(singleActiveConsumer && { 'x-single-active-consumer': true }),
    ...(deliveryLimit !== undefined && { 'x-delivery-limit': deliveryLimit }),
    ...(deadLetterQueue !== undefined && {
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': deadLetterQueue,
      // Otherwise a quorum queue may drop a message before the other queue has it. This strategy requires `reject-publish`.
      ...(type === 'quorum' && { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' }),
    }),
    ...more,
  }
}

/** A stream delivers only messages that arrive while it is being read, unless it is given a place to begin. */
export function readsStream({ properties }: AmqpMessage, queue: string): JustonceError | undefined {
  if (properties.headers?.['x-stream-offset'] === undefined) return undefined
  const message = `${JSON.stringify(queue)} is a stream and no queue: what is published while nobody reads it is missed.`
  return new JustonceError('BROKER_SETUP', { message })
}
