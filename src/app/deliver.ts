import type { IncomingMessage } from '../contracts/index.ts'
import { handleDeliveries } from '../engine/batch/handle-deliveries.ts'
import type { Engine } from '../engine/engine.ts'
import type { RunOutcome } from '../engine/items.ts'
import { encodeBody } from '../engine/publishing/encode-body.ts'
import { Breakers } from '../engine/recovery/breakers.ts'
import { JustonceError } from '../errors/index.ts'
import type { DeliveryOutcome, HandlerOutcome, MessageToDeliver } from './types.ts'

/** Runs one message through the engine and reports the outcome for each handler. */
export async function deliver(engine: Engine<unknown>, given: MessageToDeliver): Promise<DeliveryOutcome> {
  const handlers: Record<string, HandlerOutcome> = {}
  let refused: Error | undefined
  const feed = {
    inside: undefined,
    acknowledge: async () => {},
    committed: (handler: string, outcome: RunOutcome) => {
      handlers[handler] = summary(outcome)
    },
    lost: (handler: string, error: unknown) => {
      handlers[handler] = { status: 'lost', error }
    },
    refused: (error: Error) => {
      refused = error
    },
  }
  // The memory of recent commits would answer without the details that a test wants to see.
  engine.recent.clear()
  // The message must not be refused because other messages have failed.
  const undisturbed = { ...engine, breakers: new Breakers(engine.clock, engine.events) }
  const report = await handleDeliveries(undisturbed, feed, [{ message: toIncoming(engine, given) }])
  await Promise.all(report.background)
  if (report.down !== undefined) throw report.down.error
  for (const { error } of report.stuck.values()) throw error
  if (report.held.length > 0) {
    throw new JustonceError('CLAIM_HELD', { message: `Message ${given.id} is being handled by someone else.` })
  }
  return refused === undefined ? { handlers } : { handlers, refused }
}

function summary(outcome: RunOutcome): HandlerOutcome {
  switch (outcome.kind) {
    case 'duplicate':
      return { status: 'duplicate', processedAt: outcome.record.processedAt }
    case 'failed':
      return { status: 'parked', error: outcome.error }
    case 'parked':
    case 'waiting':
      return { status: 'parked' }
    case 'expired':
      return { status: 'expired' }
    case 'key-reused':
      return { status: 'key-reused' }
    default:
      return { status: 'processed' }
  }
}

function toIncoming({ codecOf }: Engine<unknown>, given: MessageToDeliver): IncomingMessage {
  const { body, headers, source, type = '', ...rest } = given
  const bytes = body instanceof Uint8Array ? body : (encodeBody(body, type, codecOf(type)) ?? new Uint8Array())
  return { ...rest, type: given.type, body: bytes, headers: headers ?? {}, source: source ?? 'deliver' }
}
