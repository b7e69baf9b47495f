import type { Delivery, IncomingMessage, QueuedMessage } from '../../contracts/index.ts'
import { unpackMessage } from '../../encoding/packed-message.ts'

export function toDelivery(queued: QueuedMessage, source: string, ended?: AbortSignal): Delivery {
  return { message: unpack(queued, source), count: queued.deliveries, redelivered: queued.deliveries > 1, ended }
}

/** An unreadable envelope is no error here: the message has no id, so the engine makes it a dead letter. */
function unpack({ message }: QueuedMessage, source: string): IncomingMessage {
  try {
    return { ...unpackMessage(message), source }
  } catch {
    return { body: message.body, headers: {}, source }
  }
}
