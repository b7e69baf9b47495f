import type { Subscriber } from '../../contracts/index.ts'
import { checkNumber } from '../../errors/index.ts'
import { type NodeHandler, nodeHandler } from './node-handler.ts'
import { receive } from './receive.ts'
import { waitingRequests } from './waiting-requests.ts'
import { decideReceiving, type ReceivingOptions } from './webhook-options.ts'

/** What `webhookTransport()` takes. */
export interface WebhookTransportOptions extends ReceivingOptions {
  /** The most requests in progress; further ones are answered with 503 at once. Default: as many as the app accepts. */
  readonly maxInFlight?: number
  /** How long the sender redelivers an event. Default: the known value for the signature's vendor. */
  readonly redeliversForMs?: number
}

/** Deliveries that arrive as HTTP requests. The response is the acknowledgement. */
export interface WebhookTransport extends Subscriber {
  /** For every server that uses `Request` and `Response`. Never rejects. */
  handle(request: Request): Promise<Response>
  /** For `node:http`, Express and the like. Must come before any body parser. */
  readonly nodeHandler: NodeHandler
}

/**
 * Handles webhooks exactly once. A request is answered with 200 only when its effect is committed or it is durably parked;
 * otherwise the sender redelivers it.
 *
 * @example
 * const webhooks = webhookTransport({ path: '/stripe', verify: stripeSignature({ secret }) })
 * const app = justonce({ store, from: webhooks })
 * createServer(webhooks.nodeHandler).listen(3000)
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
    deliveries({ signal, maxInFlight, connected }) {
      connected?.()
      return waiting.read({ signal, maxInFlight: Math.min(maxInFlight, most) })
    },
    async settle(deliveries, settlement) {
      waiting.settle(deliveries, settlement)
    },
    async close() {
      waiting.close()
    },
  }
}
