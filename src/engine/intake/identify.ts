import { hash } from 'node:crypto'
import type { Message } from '../../contracts/index.ts'
import { canonicalJson } from '../../encoding/canonical-json.ts'
import { parseExactly } from '../../encoding/exact-json.ts'
import { JustonceError } from '../../errors/index.ts'

const sentBodies = new WeakMap<Message, unknown>()
const sentTexts = new WeakMap<Message, string>()
const sentBytes = new WeakMap<Message, Uint8Array>()

/** Keeps what was sent beside a message whose body a schema has changed. */
export function rememberSentBody(message: Message, sent: unknown): void {
  sentBodies.set(message, sent)
}

/** The same for one whose numbers JavaScript cannot hold as they were sent. */
export function rememberSentText(message: Message, text: string): void {
  sentTexts.set(message, text)
}

/** The same for one that a codec has decoded: its bytes are compared. */
export function rememberSentBytes(message: Message, bytes: Uint8Array): void {
  sentBytes.set(message, bytes)
}

/** The body as it was sent, only to be compared with others: a schema or JavaScript may have made something else of it. */
export function sentBody(message: Message): unknown {
  if (sentBodies.has(message)) return sentBodies.get(message)
  const bytes = sentBytes.get(message)
  if (bytes !== undefined) return contentOfBytes(bytes)
  return contentOfJson({ body: message.body, inexact: sentTexts.get(message) })
}

/** Bytes in the form in which they are compared. */
export function contentOfBytes(bytes: Uint8Array): unknown {
  return { sha256: hash('sha256', bytes, 'hex') }
}

/** The same of JSON. `inexact`: the text, where JavaScript cannot hold its numbers. */
export function contentOfJson({
  body,
  inexact,
}: {
  readonly body: unknown
  readonly inexact: string | undefined
}): unknown {
  return inexact === undefined ? body : parseExactly(inexact)
}

/** For `identify`: two messages with equal bodies are one. Only where the producer has no ids at all. */
export function byContent(message: Message): string {
  // As it was sent: a default that a schema puts in would make two messages of one.
  return `content-${hash('sha256', canonicalJson(sentBody(message)) ?? '', 'hex')}`
}

/** For `identify`: the broker's coordinate. It does not see a producer that sends the same thing twice. */
export function byPosition(message: Message): string {
  if (message.position !== undefined) return message.position
  throw new JustonceError('MESSAGE_ID_MISSING', { message: `Messages from ${message.source} have no position.` })
}
