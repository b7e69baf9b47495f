import { JustonceError } from '../../errors/index.ts'
import type { PublishTarget, RabbitmqTransportOptions } from './options.ts'
import { queueArguments } from './topology.ts'

/** After how many failed deliveries a quorum queue of RabbitMQ 4 gives a message up if nobody has set a limit. */
const limitSinceFour = 20

/**
 * A queue with a delivery limit and no way out to another queue drops messages at that limit. This sees only what is declared here, and
 * what this version of the server does by default; policies are visible only in the management API.
 */
export function dropsAtItsLimit(options: RabbitmqTransportOptions, version?: string): JustonceError | undefined {
  const { queue, declare } = options
  if (declare === undefined) return undefined
  const { type = 'quorum' } = declare
  const given = queueArguments(declare, options)
  const trouble = troubleWithDeadLetters(queue, given)
  if (trouble === undefined) return undefined
  const name = JSON.stringify(queue)
  const limit = given['x-delivery-limit']
  if (limit !== undefined)
    return Number(limit) < 0 ? undefined : dropped(`The queue ${name} has a delivery limit of ${limit} and ${trouble}.`)
  const isLimited = type === 'quorum' && Number.parseInt(version ?? '0', 10) >= 4
  if (!isLimited) return undefined
  return dropped(
    `The queue ${name} has ${trouble}, and RabbitMQ ${version} gives a message up after ${limitSinceFour} deliveries unless a policy says otherwise.`,
  )
}

/**
 * What was given up by its limit, and not rejected by anyone, is dropped as soon as it would come to its queue again. Without a routing
 * key it keeps its own, and that leads there, or to no queue at all.
 */
function troubleWithDeadLetters(queue: string, given: Readonly<Record<string, unknown>>): string | undefined {
  const { 'x-dead-letter-exchange': exchange, 'x-dead-letter-routing-key': routingKey = queue } = given
  if (exchange === undefined) return 'no dead-letter exchange'
  const leadsBack = exchange === '' && routingKey === queue
  return leadsBack ? 'a dead-letter exchange that leads back to it, which RabbitMQ takes for a circle' : undefined
}

function dropped(message: string): JustonceError {
  return new JustonceError('MESSAGES_MAY_BE_DROPPED', { message })
}

/** What may lose messages, by what is declared: RabbitMQ refuses a declaration that differs from the queue. */
export function setupWarnings(options: RabbitmqTransportOptions, version?: string): readonly JustonceError[] {
  const { publishTo } = options
  const dropping = dropsAtItsLimit(options, version)
  return [
    ...queueWarnings(options),
    ...(dropping === undefined ? [] : [dropping]),
    ...(publishTo === undefined ? [] : [targetNotChecked(publishTo)]),
  ]
}

function queueWarnings({ queue, declare }: RabbitmqTransportOptions): readonly JustonceError[] {
  const name = JSON.stringify(queue)
  if (declare === undefined)
    return [notChecked(`The queue ${name} is not declared here, and AMQP does not tell how it was.`)]
  const { type = 'quorum', durable = true } = declare
  const mayLose = (message: string): JustonceError => new JustonceError('BROKER_MAY_LOSE', { message })
  return [
    ...(durable ? [] : [mayLose(`The queue ${name} is not durable: a restart of the broker empties it.`)]),
    ...(type === 'classic' ? [mayLose(`The queue ${name} is classic: it lives on one node only.`)] : []),
  ]
}

/** Whoever publishes to an exchange does not learn which queues get it. */
export function targetNotChecked({ exchange }: PublishTarget): JustonceError {
  const name = exchange === '' ? 'The default exchange' : `The exchange ${JSON.stringify(exchange)}`
  return notChecked(`${name} is published to, and AMQP does not tell which queues it has, nor how they were declared.`)
}

function notChecked(message: string): JustonceError {
  return new JustonceError('BROKER_NOT_CHECKED', { message })
}
