import type { Due, NewParkedMessage, PublishedMessage } from '../contracts/index.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { delayedUnder } from '../encoding/outgoing-queue.ts'
import { packMessage } from '../encoding/packed-message.ts'
import { uuidv7 } from '../ids/index.ts'
import type { Destination } from './destinations.ts'

/**
 * A message that waits for its time. Its key is unique, because messages of different types may have the same id. It has no order
 * key: one that is due in a week must not hold up one that is due in a minute.
 */
export function delayedRow(
  { queue }: Pick<Destination, 'queue'>,
  message: PublishedMessage,
  due: Due,
  now: Date,
): NewParkedMessage {
  const { id, type, causedBy, businessId } = message
  const handler = delayedUnder(queue)
  return {
    handler,
    key: `${fittedText(id)}#${uuidv7(now.getTime())}`,
    messageId: fittedText(id),
    type: fittedText(type),
    // Operators find what a message has caused by it.
    source: fittedText(causedBy?.key ?? handler),
    businessId,
    message: packMessage(message),
    state: 'waiting',
    attempts: 0,
    ...('at' in due ? { delayMs: 0, dueAt: due.at } : { delayMs: due.delayMs }),
    step: 0,
    independent: true,
    orderKey: undefined,
    reason: 'DELAYED',
    errors: '[]',
    shape: '',
  }
}
