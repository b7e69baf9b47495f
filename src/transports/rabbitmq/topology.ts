import { JustonceError } from '../../errors/index.ts'
import type { AmqpChannel, AmqpMessage } from './client-shapes.ts'
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

/**
 * A queue that gives messages up after so many deliveries, and has nowhere to put them, drops them. Seen where it is
 * declared here; what policies or the broker's default say only its management API tells.
 */
export function dropsAtItsLimit(options: RabbitmqTransportOptions): JustonceError | undefined {
  const { queue, declare } = options
  if (declare === undefined) return undefined
  const given = queueArguments(declare, options)
  const limit = given['x-delivery-limit']
  if (limit === undefined || Number(limit) < 0 || given['x-dead-letter-exchange'] !== undefined) return undefined
  return new JustonceError('MESSAGES_MAY_BE_DROPPED', {
    message: `The queue ${JSON.stringify(queue)} has a delivery limit of ${limit} and no dead-letter exchange.`,
  })
}

/** Only what comes while somebody reads it is delivered by a stream, unless it is told where to begin. */
export function readsStream({ properties }: AmqpMessage, queue: string): JustonceError | undefined {
  if (properties.headers?.['x-stream-offset'] === undefined) return undefined
  const message = `${JSON.stringify(queue)} is a stream and no queue: what is published while nobody reads it is missed.`
  return new JustonceError('BROKER_SETUP', { message })
}
