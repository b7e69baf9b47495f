import { hash } from 'node:crypto'
import type { Message } from '../contracts/index.ts'
import { canonicalJson } from '../encoding/canonical-json.ts'
import { JustonceError } from '../errors/index.ts'

const sentBodies = new WeakMap<Message, unknown>()

/** Keeps what was sent beside a message whose body a schema has changed. */
export function rememberSentBody(message: Message, sent: unknown): void {
  sentBodies.set(message, sent)
}

/** For `identify`: two messages with equal bodies are one. Only where the producer has no ids at all. */
export function byContent(message: Message): string {
  // As it was sent: a default that a schema puts in would make two messages of one.
  const body = sentBodies.has(message) ? sentBodies.get(message) : message.body
  return `content-${hash('sha256', canonicalJson(body) ?? '', 'hex')}`
}

/** For `identify`: the broker's coordinate. It does not see a producer that sends the same thing twice. */
export function byPosition(message: Message): string {
  if (message.position !== undefined) return message.position
  throw new JustonceError('MESSAGE_ID_MISSING', { message: `Messages from ${message.source} have no position.` })
}
