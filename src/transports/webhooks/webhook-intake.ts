import type { IncomingMessage, OutgoingMessage, PublishResult, Transport } from '../../contracts/index.ts'
import { checkFunction } from '../../errors/index.ts'
import type { Refusal } from './answers.ts'
import { type NodeHandler, nodeHandler } from './node-handler.ts'
import { receive } from './receive.ts'
import { unlessAborted } from './unless-aborted.ts'
import { decideReceiving, type ReceivingOptions } from './webhook-options.ts'

/** What `webhookIntake()` takes. */
export interface WebhookIntakeOptions extends ReceivingOptions {
  /** Where messages are kept until they are handled: the database as a queue, or a broker. */
  readonly into: Pick<Transport, 'publish'>
}

/** Receives webhooks and keeps them as messages, as a fetch handler or a Node handler. */
export interface WebhookIntake {
  handle(request: Request): Promise<Response>
  readonly nodeHandler: NodeHandler
}

/**
 * Puts webhooks into a queue and answers as soon as they are stored, for senders that do not wait for handlers. Messages keep
 * their ids, so duplicates are recognised when they are handled.
 */
export function webhookIntake(options: WebhookIntakeOptions): WebhookIntake {
  const receiving = decideReceiving(options, ['into'], 'webhookIntake()')
  checkFunction(options.into?.publish, 'into.publish')
  const handle = receive(receiving, {
    refuseNow: () => undefined,
    async accept(message, signal) {
      const outgoing = toOutgoing(message, receiving.clock.now())
      if (outgoing === undefined) return { status: 400, reason: 'no-type' }
      try {
        const [result] = await unlessAborted<readonly PublishResult[]>(options.into.publish([outgoing]), signal)
        return result?.kind === 'sent' ? undefined : notQueued(result?.kind === 'refused' ? result.error : undefined)
      } catch (error) {
        return notQueued(error)
      }
    },
  })
  return { handle, nodeHandler: nodeHandler(handle, receiving.onRefused) }
}

function notQueued(error: unknown): Refusal {
  return { status: 503, reason: 'not-queued', error }
}

function toOutgoing(message: IncomingMessage, now: Date): OutgoingMessage | undefined {
  const { id = '', type, body, headers, key, sentAt = now, expiresAt } = message
  return type === undefined ? undefined : { id, type, body, headers, key, sentAt, expiresAt }
}
