import type { Headers, IncomingMessage, OutgoingMessage } from '../contracts/index.ts'
import { isInexactNumber, parseToRewrite } from './exact-json.ts'

/** The prefix of a message's attributes on the wire: `ce_` on Kafka, `ce-` over HTTP, `cloudEvents:` on AMQP. */
export type AttributePrefix = 'ce_' | 'ce-' | 'cloudEvents:'

/**
 * CloudEvents 1.0 attributes as headers, together with the message's own headers. The key and the expiry are known
 * extensions. Headers of the message that begin with `ce-` are further attributes: `ce-subject`, or `ce-source` instead of ours.
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
  const own = Object.entries(message.headers).map(([name, value]) => {
    return [name.startsWith(given) ? `${prefix}${name.slice(given.length)}` : name, value] as const
  })
  const { source: ours, ...fixed } = attributes
  const named = Object.entries(fixed).map(([name, value]) => [`${prefix}${name}`, value] as const)
  return { [`${prefix}source`]: ours, ...Object.fromEntries(own), ...Object.fromEntries(named) }
}

/** Attributes that a message has no place for are headers with this prefix, on every wire. */
const given = 'ce-'
/** What our own messages have there says nothing about them. */
const ownSource = '/justonce/'
const trace = ['traceparent', 'tracestate']

export type EventAttributes = Pick<IncomingMessage, 'id' | 'type' | 'key' | 'sentAt' | 'expiresAt' | 'headers'>

/**
 * What the headers say about a message. CloudEvents attributes are taken out of the headers; those for which a message has no place
 * (`subject`, a foreign `source`, extensions) stay, as `ce-` headers. A missing one was not sent.
 */
export function readCloudEvent(headers: Headers, prefix: AttributePrefix): EventAttributes {
  const isAttribute = ([name]: readonly [string, string]): boolean =>
    name.toLowerCase().startsWith(prefix.toLowerCase())
  const all = Object.entries(headers)
  const own = all.filter((header) => !isAttribute(header))
  return eventOf(byName(all.filter(isAttribute), prefix), own)
}

/** Names are lower case. One in another case counts only where the right one is missing: it must not replace the id. */
function byName(named: readonly (readonly [string, string])[], prefix = ''): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>()
  for (const [name, value] of named) {
    const attribute = name.slice(prefix.length).toLowerCase()
    if (name === `${prefix}${attribute}` || !attributes.has(attribute)) attributes.set(attribute, value)
  }
  return attributes
}

function eventOf(attributes: ReadonlyMap<string, string>, own: readonly [string, string][]): EventAttributes {
  const others = [...attributes].filter(([name]) => !known.has(name) && !(name === 'source' && isOurs(attributes)))
  const further = others.map(([name, value]) => [trace.includes(name) ? name : `${given}${name}`, value] as const)
  return {
    id: attributes.get('id'),
    type: attributes.get('type'),
    key: attributes.get('partitionkey'),
    sentAt: dateIn(attributes.get('time')),
    expiresAt: dateIn(attributes.get('expirytime')),
    headers: { ...Object.fromEntries(further), ...Object.fromEntries(own) },
  }
}

const known = new Set(['specversion', 'id', 'type', 'time', 'partitionkey', 'expirytime'])

function isOurs(attributes: ReadonlyMap<string, string>): boolean {
  return attributes.get('source')?.startsWith(ownSource) === true
}

/**
 * A CloudEvent in structured mode: all of it is in the body, as JSON. `undefined` if it is none, or cannot be read: then it is a
 * message like any other.
 */
export function readStructured(headers: Headers, body: Uint8Array): StructuredEvent | undefined {
  const [, type] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? []
  if (!/^application\/cloudevents\+json\b/i.test(type?.trim() ?? '')) return undefined
  try {
    return structuredEvent(headers, parseToRewrite(decoder.decode(body)))
  } catch {
    // It is not JSON, or nested too deep to be written again.
    return undefined
  }
}

type StructuredEvent = EventAttributes & { readonly body: Uint8Array }

const decoder = new TextDecoder('utf-8', { fatal: true })

function structuredEvent(headers: Headers, event: unknown): StructuredEvent | undefined {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return undefined
  const { data, data_base64: bytes, datacontenttype, ...attributes } = event as Readonly<Record<string, unknown>>
  const texts = Object.entries(attributes).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return text === undefined || value === null || isInexact(value) ? [] : [[name, text] as const]
  })
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type')
  const contentType = typeof datacontenttype === 'string' ? datacontenttype : 'application/json'
  const read = eventOf(byName(texts), [...own, ['content-type', contentType]])
  return { ...read, body: dataIn(data, bytes, contentType) }
}

/** It counts as missing, because two ids could become one. */
function isInexact(value: unknown): boolean {
  return isInexactNumber(value) || (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
}

/** Text of another content type is the content itself; JSON is written again. */
function dataIn(data: unknown, bytes: unknown, contentType: string): Uint8Array {
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64')
  const isText = typeof data === 'string' && !/\bjson\b/i.test(contentType)
  return Buffer.from(isText ? data : (JSON.stringify(data) ?? 'null'))
}

/** A time that cannot be parsed counts as missing. */
function dateIn(text: string | undefined): Date | undefined {
  const date = text === undefined ? undefined : new Date(text)
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
