import type { AmqpChannel } from './client-shapes.ts'
import type { DeclareOptions, RabbitmqTransportOptions } from './options.ts'

/** Creates what was declared, or makes sure that it is as declared. Rejects when it is there and different. */
export async function declareTopology(channel: AmqpChannel, options: RabbitmqTransportOptions): Promise<void> {
  const { queue, declare, deadLetterQueue } = options
  if (declare === undefined) return
  const { type = 'quorum', durable = true } = declare
  // First: what the queue gives up before this one exists would be lost.
  if (deadLetterQueue !== undefined)
    await channel.assertQueue(deadLetterQueue, { durable, arguments: { 'x-queue-type': type } })
  await channel.assertQueue(queue, { durable, arguments: queueArguments(declare, options) })
  for (const { exchange, routingKey } of declare.bindings ?? []) await channel.bindQueue(queue, exchange, routingKey)
}

function queueArguments(
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
      // Else a quorum queue forgets a message before the other queue has it; it asks for the second one.
      ...(type === 'quorum' && { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' }),
    }),
    ...more,
  }
}
