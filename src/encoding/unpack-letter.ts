import type { IncomingMessage, PackedMessage } from '../contracts/index.ts'
import { unpackMessage } from './packed-message.ts'

/** A letter that cannot be read is shown with what there is of it: it must not hide the others, nor itself. */
export function unpackLetter(packed: PackedMessage): IncomingMessage {
  try {
    return unpackMessage(packed)
  } catch {
    return { id: undefined, type: undefined, source: '', headers: {}, body: packed.body }
  }
}
