import type { IncomingMessage, OutgoingMessage, PackedMessage } from '../contracts/index.ts'

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
    sentAt: Number.isNaN(message.sentAt?.getTime()) ? undefined : message.sentAt?.getTime(),
    position: 'position' in message ? message.position : undefined,
    headers: Object.entries(message.headers),
  }
  return { envelope: encoder.encode(JSON.stringify(envelope, asData)), body: message.body }
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
    position?: string
    headers: [string, string][]
  }
  return {
    id: envelope.id,
    type: envelope.type,
    source: envelope.source ?? '',
    key: envelope.key,
    sentAt: envelope.sentAt === undefined ? undefined : new Date(envelope.sentAt),
    position: envelope.position,
    headers: Object.fromEntries(envelope.headers),
    body: packed.body,
  }
}

export function unpackOutgoing(packed: PackedMessage): OutgoingMessage {
  const { id, type, key, sentAt, headers, body } = unpackMessage(packed)
  return { id: id ?? '', type: type ?? '', key, sentAt: sentAt ?? new Date(0), headers, body }
}
