import type { StoredParkedMessage, TraceContext } from '../contracts/index.ts'
import { effectOf } from '../encoding/intent-name.ts'
import { unpackMessage } from '../encoding/packed-message.ts'
import { traceIn } from '../encoding/trace-context.ts'
import type { Intent } from './effect.ts'

export interface ReadIntent {
  readonly intent: Intent
  readonly idempotencyKey: string
  readonly trace: TraceContext
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws if the row was damaged. */
export function readIntent({ handler, key, message, parkedAt }: StoredParkedMessage): ReadIntent {
  const { id, body, headers } = unpackMessage(message)
  if (typeof id !== 'string' || id === '') throw new Error('The stored intent has no idempotency key.')
  const payload = JSON.parse(decoder.decode(body)) as Intent['payload']
  const intent = { effect: effectOf(handler), key, payload, intendedAt: parkedAt }
  return { intent, idempotencyKey: id, trace: traceIn(headers) ?? {} }
}

/** How many attempts have begun, whether or not they have ended. */
export function attemptsOf({ attempts, begun }: Pick<StoredParkedMessage, 'attempts' | 'begun'>): number {
  return attempts + begun
}
