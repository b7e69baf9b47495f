import type { OutgoingMessage } from '../../contracts/index.ts'
import { cloudEventHeaders } from '../../encoding/cloud-events.ts'
import { JustonceError } from '../../errors/index.ts'
import type { AmqpPublishOptions } from './client-shapes.ts'
import { toWireHeaders } from './header-text.ts'
import type { PublishTarget } from './options.ts'

/** A message in the form that the client expects. */
export interface WireMessage {
  readonly exchange: string
  readonly routingKey: string
  readonly content: Buffer
  readonly options: AmqpPublishOptions
  /** The size of the frame with all headers and properties. It must not exceed the size that both sides agreed on. */
  readonly headerFrameBytes: number
}

export interface WireRules {
  readonly queue: string
  readonly source: string
  readonly publishTo: PublishTarget | undefined
  readonly maxMessageBytes: number
}

/** AMQP limits names, ids and types to 255 bytes. */
const shortBytes = 255
/** All headers must fit into one frame, and brokers accept 131,072 bytes by default. */
const headerBytes = 120_000
/** The frame itself, the length of the table and the fixed-length properties take 52. */
const restOfFrameBytes = 60

/** Throws `PUBLISH_REFUSED` if the broker would otherwise close the channel, or even the connection. */
export function toWire(message: OutgoingMessage, rules: WireRules): WireMessage {
  const { exchange, routingKey } = addressOf(message, rules)
  const headers = toWireHeaders(message.headers)
  const attributes = cloudEventHeaders({ ...message, headers }, rules.source, 'cloudEvents:')
  if (message.body.length > rules.maxMessageBytes)
    throw refused(message, `has ${message.body.length} bytes, and maxMessageBytes is ${rules.maxMessageBytes}`)
  if (byteLength(routingKey) > shortBytes) throw refused(message, `has a routing key of more than ${shortBytes} bytes`)
  let size = 0
  for (const [name, value] of Object.entries(attributes)) {
    if (byteLength(name) > shortBytes) throw refused(message, `has a header name of more than ${shortBytes} bytes`)
    // Two lengths and the type of the value.
    size += byteLength(name) + byteLength(value) + 6
  }
  if (size > headerBytes) throw refused(message, `has ${size} bytes of headers, and ${headerBytes} fit`)
  const seconds = Math.floor(message.sentAt.getTime() / 1_000)
  // For consumers that do not read CloudEvents. The attributes are complete in any case.
  const short = {
    ...(byteLength(message.id) <= shortBytes && { messageId: message.id }),
    ...(byteLength(message.type) <= shortBytes && { type: message.type }),
  }
  const contentType = message.headers['content-type'] ?? 'application/json'
  if (byteLength(contentType) > shortBytes)
    throw refused(message, `has a content-type of more than ${shortBytes} bytes`)
  size += byteLength(contentType)
  for (const text of Object.values(short)) size += byteLength(text) + 1
  return {
    headerFrameBytes: size + restOfFrameBytes,
    exchange,
    routingKey,
    content: Buffer.from(message.body.buffer, message.body.byteOffset, message.body.byteLength),
    options: {
      persistent: true,
      mandatory: true,
      contentType,
      ...short,
      ...(seconds >= 0 && { timestamp: seconds }),
      headers: attributes,
    },
  }
}

function addressOf(
  message: OutgoingMessage,
  { queue, publishTo }: WireRules,
): { readonly exchange: string; readonly routingKey: string } {
  if (publishTo === undefined) return { exchange: '', routingKey: queue }
  const { exchange, routingKey = message.type } = publishTo
  return { exchange, routingKey: typeof routingKey === 'function' ? String(routingKey(message)) : routingKey }
}

function refused({ id }: OutgoingMessage, what: string): JustonceError {
  return new JustonceError('PUBLISH_REFUSED', { message: `Message ${id} ${what}.` })
}

function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
