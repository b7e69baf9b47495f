import { hash } from 'node:crypto'
import type { Message } from '../../contracts/index.ts'
import { canonicalJson } from '../../encoding/canonical-json.ts'
import { parseExactly } from '../../encoding/exact-json.ts'
import { JustonceError } from '../../errors/index.ts'

const sentBodies = new WeakMap<Message, unknown>()
const sentTexts = new WeakMap<Message, string>()
const sentBytes = new WeakMap<Message, Uint8Array>()

/** Remembers the body as it was sent, for a message whose body a schema has changed. */
export function rememberSentBody(message: Message, sent: unknown): void {
  sentBodies.set(message, sent)
}

/** Remembers the sent text, for a message with numbers that JavaScript cannot represent exactly. */
export function rememberSentText(message: Message, text: string): void {
  sentTexts.set(message, text)
}

/** Remembers the sent bytes, for a message that a codec has decoded: its bytes are compared. */
export function rememberSentBytes(message: Message, bytes: Uint8Array): void {
  sentBytes.set(message, bytes)
}

/** The body as it was sent, only for comparisons: a schema or JavaScript may have changed it. */
export function sentBody(message: Message): unknown {
  if (sentBodies.has(message)) return sentBodies.get(message)
  const bytes = sentBytes.get(message)
  if (bytes !== undefined) return contentOfBytes(bytes)
  return contentOfJson({ body: message.body, inexact: sentTexts.get(message) })
}

/** The form in which bytes are compared. */
export function contentOfBytes(bytes: Uint8Array): unknown {
  return { sha256: hash('sha256', bytes, 'hex') }
}

/** The form in which JSON is compared. `inexact`: the text, if JavaScript cannot represent its numbers exactly. */
export function contentOfJson({
  body,
  inexact,
}: {
  readonly body: unknown
  readonly inexact: string | undefined
}): unknown {
  return inexact === undefined ? body : parseExactly(inexact)
}

/** For `identify`: two messages with equal bodies are the same message. Use it only if the producer has no ids at all. */
export function byContent(message: Message): string {
  // As it was sent: a default that a schema adds could make one message look like two.
  return `content-${hash('sha256', canonicalJson(sentBody(message)) ?? '', 'hex')}`
}

/** For `identify`: the broker's coordinate. It does not detect a producer that sends the same thing twice. */
export function byPosition(message: Message): string {
  if (message.position !== undefined) return message.position
  throw new JustonceError('MESSAGE_ID_MISSING', { message: `Messages from ${message.source} have no position.` })
}
