import type { Delivery, IncomingMessage } from '../../contracts/index.ts'
import { readCloudEvent, readStructured } from '../../encoding/cloud-events.ts'
import type { AmqpMessage } from './client-shapes.ts'
import { fromWireHeaders } from './header-text.ts'

export interface DeliveryShape {
  /** The queue that it is read from. */
  readonly source: string
  readonly inOrder: boolean
  readonly routingKeyAsType: boolean
}

export function toDelivery(arrived: AmqpMessage, shape: DeliveryShape): Delivery {
  const message = toIncoming(arrived, shape)
  const before = arrived.properties.headers?.['x-delivery-count']
  const lane = message.key === undefined ? shape.source : `${shape.source}/${message.key}`
  return {
    message,
    ...(shape.inOrder && { lane }),
    // A quorum queue reports how often a message was returned to it.
    count: typeof before === 'number' ? before + 1 : 1,
    redelivered: arrived.fields.redelivered,
  }
}

/** A message that the broker has given up on becomes a dead letter. Its history is in the headers. */
export function toDeadDelivery(arrived: AmqpMessage, shape: DeliveryShape): Delivery {
  const delivery = toDelivery(arrived, { ...shape, inOrder: false })
  return { ...delivery, givenUp: `Message ${delivery.message.id} was in the dead-letter queue ${shape.source}.` }
}

/** Never throws: unreadable parts are left out, and without them the engine makes the message a dead letter. */
function toIncoming({ content, fields, properties }: AmqpMessage, shape: DeliveryShape): IncomingMessage {
  const { source, routingKeyAsType } = shape
  const { 'x-delivery-count': _count, ...rest } = properties.headers ?? {}
  const headers = { ...namedProperties(properties), ...fromWireHeaders(rest) }
  const structured = readStructured(headers, content)
  const event = structured ?? readCloudEvent(headers, 'cloudEvents:')
  const routingKey = routingKeyAsType ? text(fields.routingKey) : undefined
  return {
    ...event,
    id: wholeText(event.id) ?? wholeText(properties.messageId),
    type: event.type ?? text(properties.type) ?? routingKey,
    sentAt: event.sentAt ?? time(properties.timestamp),
    body: structured?.body ?? content,
    source,
  }
}

/** Properties that handlers may want, under their usual header names. A header of the same name takes precedence. */
function namedProperties(properties: AmqpMessage['properties']): Record<string, string> {
  const { contentType, contentEncoding, correlationId, replyTo } = properties
  const named = {
    'content-type': text(contentType),
    'content-encoding': text(contentEncoding),
    'correlation-id': text(correlationId),
    'reply-to': text(replyTo),
  }
  return Object.fromEntries(Object.entries(named).filter((each): each is [string, string] => each[1] !== undefined))
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The client substitutes this character for bytes that are not UTF-8, so different ids could become equal. */
function wholeText(value: unknown): string | undefined {
  const read = text(value)
  return read?.includes('\uFFFD') ? undefined : read
}

/** AMQP timestamps are in seconds. */
function time(seconds: unknown): Date | undefined {
  const date = typeof seconds === 'number' ? new Date(seconds * 1_000) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
