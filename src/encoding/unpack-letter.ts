import type { IncomingMessage, PackedMessage } from '../contracts/index.ts'
import { unpackMessage } from './packed-message.ts'

/** A parked message that cannot be read is shown as far as possible: it must not hide the others, or itself. */
export function unpackLetter(packed: PackedMessage): IncomingMessage {
  try {
    return unpackMessage(packed)
  } catch {
    return { id: undefined, type: undefined, source: '', headers: {}, body: packed.body }
  }
}
