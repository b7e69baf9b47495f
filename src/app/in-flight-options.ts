import type { InFlightLimits } from '../consumer/in-hand.ts'
import type { Subscriber } from '../contracts/index.ts'
import { checkNumber, checkOptions } from '../errors/index.ts'
import type { BatchSettings } from './build-engine.ts'

/**
 * How many messages of each transport may be unsettled in this process. No other process can handle them meanwhile: small
 * numbers share the work of slow handlers more evenly, large ones save round trips.
 */
export interface InFlightOptions {
  /** The largest number of messages. Default: eight times `batch.max`, which is 800. While handlers are slow, fewer are taken. */
  readonly messages?: number
  /** The total size of their bodies, as far as the broker can limit it; one message is always taken. Default: 64 MiB. */
  readonly bytes?: number
  /** A message that waits longer without being started is given back. Default: as long as the broker allows. */
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
    // Enough for large batches, and for each worker a message in progress and one ready.
    messages: options.messages ?? Math.max(8 * max, 2 * concurrency),
    bytes: options.bytes ?? defaultBytes,
    ageMs: options.ageMs ?? Number.POSITIVE_INFINITY,
  }
}

/** Limits that the transport itself sets apply, too. */
export function limitsFor({ inFlight = {} }: Pick<Subscriber, 'inFlight'>, limits: InFlightLimits): InFlightLimits {
  return {
    messages: Math.min(limits.messages, inFlight.messages ?? Number.POSITIVE_INFINITY),
    bytes: Math.min(limits.bytes, inFlight.bytes ?? Number.POSITIVE_INFINITY),
    ageMs: Math.min(limits.ageMs, inFlight.ageMs ?? Number.POSITIVE_INFINITY),
  }
}
