import type { IncomingMessage, StoredParkedMessage } from '../contracts/index.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { unrouted } from '../encoding/unrouted.ts'
import type { Engine } from '../engine/engine.ts'
import { lateness } from '../engine/intake/expiry.ts'

/** Whether its expiry has passed: for its handler, or for every handler of its type if it reached none. */
export function isTooLate<Tx>(engine: Engine<Tx>, { handler, type, message }: StoredParkedMessage): boolean {
  const { id = '', sentAt, expiresAt }: IncomingMessage = unpackLetter(message)
  const handlers = handler === unrouted ? engine.handlersOf(type) : [engine.handlerNamed(handler)]
  const late = (each: Parameters<typeof lateness>[1]) => lateness(engine, each, { id, sentAt, expiresAt }) !== undefined
  // For a handler that is not registered here, only the message itself says when it expires.
  const unregistered = { name: handler, expires: { afterMs: undefined } }
  if (handlers.length === 0) return late(unregistered)
  return handlers.every((each) => late(each ?? unregistered))
}
