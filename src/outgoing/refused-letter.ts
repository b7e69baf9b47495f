import type { NewParkedMessage, OutgoingMessage, QueuedMessage } from '../contracts/index.ts'
import { addErrorNote } from '../encoding/error-notes.ts'
import { shapeOf } from '../encoding/error-shape.ts'
import { fittedText } from '../encoding/fit-text.ts'
import type { Destination } from './destinations.ts'

export type RefusedMessage = Pick<OutgoingMessage, 'id' | 'type' | 'key' | 'causedBy' | 'businessId'>

/** A message that a broker refuses, as a dead letter. Several may have the same id, so its key includes its row. */
export function refusedLetter(
  { queue }: Pick<Destination, 'queue'>,
  { ticket, deliveries, message }: QueuedMessage,
  { id, type, key, causedBy, businessId }: RefusedMessage,
  error: Error,
  at: Date,
): NewParkedMessage {
  return {
    handler: queue,
    key: `${fittedText(id)}#${ticket}`,
    messageId: fittedText(id),
    type: fittedText(type),
    // Operators find what a message has caused by it.
    source: fittedText(causedBy?.key ?? queue),
    businessId,
    message,
    state: 'dead',
    attempts: deliveries,
    delayMs: 0,
    // It is not a step of an incoming message.
    step: 0,
    independent: true,
    // Messages of one key that are redriven together are sent in order.
    orderKey: key === undefined ? undefined : fittedText(key),
    reason: 'OUTGOING_REFUSED',
    errors: addErrorNote('', error, at),
    shape: shapeOf(error),
  }
}
