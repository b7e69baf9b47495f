import type { InFlightLimits } from '../consumer/in-hand.ts'
import type { Subscriber } from '../contracts/index.ts'
import { checkNumber, checkOptions } from '../errors/index.ts'
import type { BatchSettings } from './build-engine.ts'

/**
 * How much of each transport may be in this process and not settled. What is in one process is not with another: small
 * numbers share the work of slow handlers more evenly, large ones save round trips.
 */
export interface InFlightOptions {
  /** The most messages. Two batches for each that runs at once if not given. While handlers are slow, fewer are taken. */
  readonly messages?: number
  /** The most bytes of their bodies, as far as the broker can be told; one message is always taken. 64 MiB if not given. */
  readonly bytes?: number
  /** What has waited for longer without being begun is given back. As long as the broker allows if not given. */
  readonly ageMs?: number
}

const defaultBytes = 67_108_864

export function checkInFlight(options: InFlightOptions = {}): void {
  checkOptions(options, ['messages', 'bytes', 'ageMs'], 'inFlight')
  checkNumber(options.messages ?? 1, 'inFlight.messages', 1)
  checkNumber(options.bytes ?? 1, 'inFlight.bytes', 1)
  checkNumber(options.ageMs ?? 1, 'inFlight.ageMs', 1)
}

export function decideInFlight(
  options: InFlightOptions = {},
  concurrency: number,
  { max }: Pick<BatchSettings, 'max'>,
): InFlightLimits {
  return {
    // One batch for each worker to be at work on and one to have ready.
    messages: options.messages ?? concurrency * max * 2,
    bytes: options.bytes ?? defaultBytes,
    ageMs: options.ageMs ?? Number.POSITIVE_INFINITY,
  }
}

/** What a transport asks for by itself holds, too. */
export function limitsFor({ inFlight = {} }: Pick<Subscriber, 'inFlight'>, limits: InFlightLimits): InFlightLimits {
  return {
    messages: Math.min(limits.messages, inFlight.messages ?? Number.POSITIVE_INFINITY),
    bytes: Math.min(limits.bytes, inFlight.bytes ?? Number.POSITIVE_INFINITY),
    ageMs: Math.min(limits.ageMs, inFlight.ageMs ?? Number.POSITIVE_INFINITY),
  }
}
