import type { Headers, IncomingMessage, OutgoingMessage } from '../contracts/index.ts'

/** The prefix of a message's attributes on the wire: `ce_` on Kafka, `ce-` over HTTP, `cloudEvents:` on AMQP. */
export type AttributePrefix = 'ce_' | 'ce-' | 'cloudEvents:'

/**
 * CloudEvents 1.0 attributes as headers, together with the message's own headers. The key and the expiry are known
 * extensions.
 */
export function cloudEventHeaders(
  message: OutgoingMessage,
  source: string,
  prefix: AttributePrefix,
): Record<string, string> {
  const attributes = {
    specversion: '1.0',
    id: message.id,
    type: message.type,
    source,
    time: message.sentAt.toISOString(),
    ...(message.key !== undefined && { partitionkey: message.key }),
    ...(message.expiresAt !== undefined && { expirytime: message.expiresAt.toISOString() }),
  }
  const named = Object.entries(attributes).map(([name, value]) => [`${prefix}${name}`, value] as const)
  return { ...message.headers, ...Object.fromEntries(named) }
}

/** What the headers say about a message. CloudEvents attributes are removed from the headers; a missing one was not sent. */
export function readCloudEvent(
  headers: Headers,
  prefix: AttributePrefix,
): Pick<IncomingMessage, 'id' | 'type' | 'key' | 'sentAt' | 'expiresAt' | 'headers'> {
  const attributes = new Map<string, string>()
  const own: [string, string][] = []
  for (const [name, value] of Object.entries(headers)) {
    const attribute = name.toLowerCase().startsWith(prefix.toLowerCase())
      ? name.slice(prefix.length).toLowerCase()
      : undefined
    if (attribute === undefined) own.push([name, value])
    else attributes.set(attribute, value)
  }
  return {
    id: attributes.get('id'),
    type: attributes.get('type'),
    key: attributes.get('partitionkey'),
    sentAt: dateIn(attributes.get('time')),
    expiresAt: dateIn(attributes.get('expirytime')),
    headers: Object.fromEntries(own),
  }
}

/** A time that cannot be parsed counts as missing. */
function dateIn(text: string | undefined): Date | undefined {
  const date = text === undefined ? undefined : new Date(text)
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
