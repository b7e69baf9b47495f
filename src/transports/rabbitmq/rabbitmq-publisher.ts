import { systemClock } from '../../clock/index.ts'
import type { Publisher } from '../../contracts/index.ts'
import { checkNumber, checkOptions } from '../../errors/index.ts'
import { connectBy } from './connect-by.ts'
import { newLink } from './link.ts'
import {
  checkPublishTarget,
  checkWayToConnect,
  destinationOf,
  type PublishTarget,
  type WayToConnect,
} from './options.ts'
import { newPublisher } from './publisher.ts'
import { targetNotChecked } from './setup-warnings.ts'

/** What `rabbitmqPublisher()` takes. */
export interface RabbitmqPublisherOptions extends WayToConnect, PublishTarget {
  /** A larger message is refused before it is sent. Default: 16,777,216, the limit of RabbitMQ 4. */
  readonly maxMessageBytes?: number
  /** A message that is not confirmed within this time counts as lost. Default: 30,000. */
  readonly confirmTimeoutMs?: number
}

const known = ['client', 'url', 'connect', 'exchange', 'routingKey', 'maxMessageBytes', 'confirmTimeoutMs']

/**
 * Publishes to an exchange of RabbitMQ, for apps that read from elsewhere or not at all.
 *
 * @example
 * const app = justonce({ store, to: rabbitmqPublisher({ client, url: 'amqp://localhost', exchange: 'events' }) })
 */
export function rabbitmqPublisher(options: RabbitmqPublisherOptions): Publisher {
  checkOptions(options, [...known, 'connectTimeoutMs', 'clock'], 'rabbitmqPublisher()')
  checkWayToConnect(options)
  const { exchange, routingKey, clock = systemClock } = options
  const publishTo = { exchange, ...(routingKey !== undefined && { routingKey }) }
  checkPublishTarget(publishTo)
  for (const name of ['maxMessageBytes', 'confirmTimeoutMs', 'connectTimeoutMs'] as const)
    if (options[name] !== undefined) checkNumber(options[name], name, 1)
  const destination = destinationOf(publishTo)
  const link = newLink({ connect: connectBy(options), timeoutMs: options.connectTimeoutMs ?? 10_000, clock })
  const publisher = newPublisher({
    link,
    rules: { queue: '', source: destination, publishTo, maxMessageBytes: options.maxMessageBytes ?? 16_777_216 },
    clock,
    confirmTimeoutMs: options.confirmTimeoutMs ?? 30_000,
    prepare: async () => {},
  })
  return {
    destination,
    publish: (messages) => publisher.publish(messages),
    async inspect() {
      const { code, message } = targetNotChecked(publishTo)
      return { warnings: [{ code, message }] }
    },
    async close() {
      await publisher.close()
      await link.close()
    },
  }
}
