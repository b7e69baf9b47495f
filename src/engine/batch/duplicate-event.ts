import type { JustonceEvent } from '../../contracts/index.ts'
import { traceIn } from '../../encoding/trace-context.ts'
import type { Run } from '../items.ts'

/** Says of a duplicate what the transport knows about why it came. */
export function duplicateEvent<Tx>(
  { handler, key, message, delivery }: Run<Tx>,
  from: 'cache' | 'store',
  processedAt?: Date,
): JustonceEvent {
  const { count, redelivered } = delivery
  return {
    kind: 'duplicate',
    handler: handler.name,
    key,
    type: handler.type,
    from,
    messageId: message.id,
    source: message.source,
    redelivered: redelivered === true || (count ?? 1) > 1,
    deliveries: count,
    processedAt,
    trace: traceIn(message.headers),
  }
}
