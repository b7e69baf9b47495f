import type { IncomingMessage, StoredParkedMessage } from '../contracts/index.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { unrouted } from '../encoding/unrouted.ts'
import type { Engine } from '../engine/engine.ts'
import { lateness } from '../engine/expiry.ts'

/** Whether its expiry has passed, for its handler or, where it reached none, for every handler of its type. */
export function isTooLate<Tx>(engine: Engine<Tx>, { handler, type, message }: StoredParkedMessage): boolean {
  const { id = '', sentAt, expiresAt }: IncomingMessage = unpackLetter(message)
  const handlers = handler === unrouted ? engine.handlersOf(type) : [engine.handlerNamed(handler)]
  const late = (each: { name: string; expiresAfterMs: number | undefined }) =>
    lateness(engine, each, { id, sentAt, expiresAt }) !== undefined
  // One that is not registered here has only what the message itself says.
  if (handlers.length === 0) return late({ name: handler, expiresAfterMs: undefined })
  return handlers.every((each) => late(each ?? { name: handler, expiresAfterMs: undefined }))
}
