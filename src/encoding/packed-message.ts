import type { IncomingMessage, OutboxMessage, OutgoingMessage, PackedMessage } from '../contracts/index.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Packs a message for storage. The envelope is JSON in bytes rather than columns, so that a NUL, a lone surrogate or a
 * header called `__proto__` is only data; headers are pairs for the same reason.
 */
export function packMessage(message: IncomingMessage | OutgoingMessage, source?: string): PackedMessage {
  const envelope = {
    id: message.id,
    type: message.type,
    source: 'source' in message ? message.source : source,
    key: message.key,
    sentAt: packTime(message.sentAt),
    expiresAt: packTime(message.expiresAt),
    position: 'position' in message ? message.position : undefined,
    headers: Object.entries(message.headers),
  }
  return { envelope: encoder.encode(JSON.stringify(envelope, asData)), body: message.body }
}

/** A message as the outbox keeps it. */
export function outboxRow(message: OutgoingMessage): OutboxMessage {
  return { id: message.id, key: message.key, message: packMessage(message) }
}

/** A time that is none is left out: JSON would make `null` of it, and that would come back as 1970. */
function packTime(time: Date | undefined): number | undefined {
  const ms = time?.getTime()
  return Number.isNaN(ms) ? undefined : ms
}

/** Headers that are not text are refused later; until then nothing in them may fail. */
function asData(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

export function unpackMessage(packed: PackedMessage): IncomingMessage {
  const envelope = JSON.parse(decoder.decode(packed.envelope)) as {
    id?: string
    type?: string
    source?: string
    key?: string
    sentAt?: number
    expiresAt?: number
    position?: string
    headers: [string, string][]
  }
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
  }
}

function unpackTime(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms)
}

export function unpackOutgoing(packed: PackedMessage): OutgoingMessage {
  const { id, type, key, sentAt, expiresAt, headers, body } = unpackMessage(packed)
  return { id: id ?? '', type: type ?? '', key, sentAt: sentAt ?? new Date(0), expiresAt, headers, body }
}
