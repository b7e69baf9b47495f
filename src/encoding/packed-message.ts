import { hash } from 'node:crypto'
import type { Cause, IncomingMessage, MessageToQueue, OutgoingMessage, PackedMessage } from '../contracts/index.ts'
import { anyText, asData } from './any-text.ts'
import { fittedText } from './fit-text.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Packs a message for storage. The envelope is JSON in bytes rather than columns, so that a NUL, a lone surrogate or a
 * header called `__proto__` is only data. Headers are pairs for the same reason.
 */
export function packMessage(message: IncomingMessage | OutgoingMessage): PackedMessage {
  const envelope = {
    id: message.id,
    type: message.type,
    source: 'source' in message ? message.source : undefined,
    key: message.key,
    sentAt: packTime(message.sentAt),
    expiresAt: packTime(message.expiresAt),
    position: 'position' in message ? message.position : undefined,
    cause: 'causedBy' in message ? packCause(message.causedBy) : undefined,
    businessId: 'businessId' in message ? message.businessId : undefined,
    headers: Object.entries(message.headers ?? {}),
  }
  return { envelope: encoded(envelope), body: message.body }
}

/** In few bytes: every message on its way out has one. */
function packCause(cause: Cause | undefined): readonly (string | undefined)[] | undefined {
  if (cause === undefined) return undefined
  const { handler, key, messageId } = cause
  return key === undefined ? [handler] : messageId === undefined ? [handler, key] : [handler, key, messageId]
}

function unpackCause([handler, key, messageId]: readonly string[]): Cause | undefined {
  return handler === undefined ? undefined : { handler, key, messageId }
}

/** What is kept of a message that is too large: everything except its headers and its body. */
export function noteOf(message: IncomingMessage): PackedMessage {
  const cut = { bytes: message.body.length, sha256: hash('sha256', message.body, 'hex') }
  const { id, type, source, key, position } = message
  const texts = Object.entries({ id, type, source, key, position }).map(([name, text]) => [name, shortened(text)])
  const { envelope } = packMessage({ ...message, ...Object.fromEntries(texts), headers: {} })
  const text = JSON.stringify({ ...JSON.parse(decoder.decode(envelope)), cut })
  return { envelope: encoder.encode(text), body: encoder.encode(JSON.stringify(cut)) }
}

function shortened(text: string | undefined): string | undefined {
  // A transport may supply anything; what is not text becomes text that can be shortened.
  const said = text === undefined || text === null ? undefined : anyText(text)
  return said === undefined || said.length <= 1_000 ? said : fittedText(said)
}

/** Never throws: any field may have any type, and a message that cannot be packed could not be kept. */
function encoded(envelope: { readonly headers: readonly (readonly [string, unknown])[] }): Uint8Array {
  try {
    // Without a replacer, which would be called for each value: one is needed only for a bigint, which throws.
    return Buffer.from(JSON.stringify(envelope))
  } catch {
    return encodedAsData(envelope)
  }
}

function encodedAsData(envelope: { readonly headers: readonly (readonly [string, unknown])[] }): Uint8Array {
  try {
    return encoder.encode(JSON.stringify(envelope, asData))
  } catch {
    const headers = envelope.headers.map(([name, value]) => [name, typeof value === 'string' ? value : typeof value])
    const rest = Object.entries(envelope).map(([name, value]) => [name, isPlain(value) ? value : anyText(value)])
    return encoder.encode(JSON.stringify({ ...Object.fromEntries(rest), headers }))
  }
}

function isPlain(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string' || typeof value === 'number'
}

/** A published message as a queue of the store keeps it. */
export function toQueue(message: OutgoingMessage): MessageToQueue {
  return { key: message.key, message: packMessage(message) }
}

/** An invalid time is left out: JSON would turn it into `null`, which would come back as 1970. */
function packTime(time: Date | undefined): number | undefined {
  const ms = time instanceof Date ? time.getTime() : undefined
  return Number.isNaN(ms) ? undefined : ms
}

interface Envelope {
  id?: string
  type?: string
  source?: string
  key?: string
  sentAt?: number
  expiresAt?: number
  position?: string
  cause?: string[]
  businessId?: string
  headers: [string, string][]
  cut?: IncomingMessage['cut']
}

function envelopeOf(packed: PackedMessage): Envelope {
  return JSON.parse(decoder.decode(packed.envelope)) as Envelope
}

export function unpackMessage(packed: PackedMessage): IncomingMessage {
  return messageIn(envelopeOf(packed), packed)
}

function messageIn(envelope: Envelope, packed: PackedMessage): IncomingMessage {
  return {
    id: envelope.id,
    type: envelope.type,
    source: envelope.source ?? '',
    key: envelope.key,
    sentAt: unpackTime(envelope.sentAt),
    expiresAt: unpackTime(envelope.expiresAt),
    position: envelope.position,
    headers: Object.fromEntries(envelope.headers),
    body: packed.body,
    ...(envelope.cut !== undefined && { cut: envelope.cut }),
  }
}

function unpackTime(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms)
}

export function unpackOutgoing(packed: PackedMessage): OutgoingMessage {
  const envelope = envelopeOf(packed)
  const { id, type, key, sentAt, expiresAt, headers, body } = messageIn(envelope, packed)
  const message = { id: id ?? '', type: type ?? '', key, sentAt: sentAt ?? new Date(0), expiresAt, headers, body }
  return { ...message, ...purposeIn(envelope) }
}

type Purpose = Pick<OutgoingMessage, 'causedBy' | 'businessId'>

/** What only the store is told of a message on its way out. */
export function purposeOf(packed: PackedMessage): Purpose {
  return purposeIn(envelopeOf(packed))
}

function purposeIn({ cause, businessId }: Envelope): Purpose {
  return {
    ...(Array.isArray(cause) && { causedBy: unpackCause(cause) }),
    ...(typeof businessId === 'string' && { businessId }),
  }
}
