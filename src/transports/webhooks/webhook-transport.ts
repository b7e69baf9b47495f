import type { Transport } from '../../contracts/index.ts'
import { checkNumber, JustonceError } from '../../errors/index.ts'
import { type NodeHandler, nodeHandler } from './node-handler.ts'
import { receive } from './receive.ts'
import { waitingRequests } from './waiting-requests.ts'
import { decideReceiving, type ReceivingOptions } from './webhook-options.ts'

export interface WebhookTransportOptions extends ReceivingOptions {
  /** More requests under way are answered with 503 at once. Default: as many as the app takes. */
  readonly maxInFlight?: number
  /** How long the sender sends an event again. Default: what is known of the signature's vendor. */
  readonly redeliversForMs?: number
}

/** Deliveries that come as HTTP requests; the answer is the acknowledgement. */
export interface WebhookTransport extends Transport {
  /** For every server that speaks `Request` and `Response`. It never rejects. */
  handle(request: Request): Promise<Response>
  /** For `node:http`, Express and the like; before any body parser. */
  readonly nodeHandler: NodeHandler
}

/**
 * Handles webhooks exactly once. A request is answered with 200 only when its effect is committed or it is durably
 * parked; otherwise the sender's own redelivery brings it again.
 *
 * @example
 * const transport = webhookTransport({ path: '/stripe', verify: stripeSignature({ secret }) })
 * const app = justonce({ store, transport })
 * createServer(transport.nodeHandler).listen(3000)
 */
export function webhookTransport(options: WebhookTransportOptions): WebhookTransport {
  const receiving = decideReceiving(options, ['maxInFlight', 'redeliversForMs'], 'webhookTransport()')
  const { maxInFlight: most = Number.POSITIVE_INFINITY, verify } = options
  if (options.maxInFlight !== undefined) checkNumber(options.maxInFlight, 'maxInFlight', 1)
  if (options.redeliversForMs !== undefined) checkNumber(options.redeliversForMs, 'redeliversForMs', 0)
  const known = typeof verify === 'function' ? undefined : verify.redeliversForMs
  const waiting = waitingRequests()
  const handle = receive(receiving, waiting)

  return {
    name: receiving.source,
    capabilities: {
      order: 'none',
      deliveryCount: 'none',
    },
    redeliversForMs: async () => options.redeliversForMs ?? known,
    handle,
    nodeHandler: nodeHandler(handle, receiving.onRefused),
    deliveries: ({ signal, maxInFlight }) => waiting.read({ signal, maxInFlight: Math.min(maxInFlight, most) }),
    async settle(deliveries, settlement) {
      waiting.settle(deliveries, settlement)
    },
    async publish(messages) {
      return messages.map(({ id, type }) => ({ kind: 'refused', error: receivesOnly(id, type) }))
    },
    async close() {
      waiting.close()
    },
  }
}

function receivesOnly(id: string, type: string): JustonceError {
  return new JustonceError('PUBLISH_REFUSED', {
    message: `Message ${id} of type ${type} cannot be published: webhooks only receive. Give the app a transport that can publish as its first one.`,
  })
}
