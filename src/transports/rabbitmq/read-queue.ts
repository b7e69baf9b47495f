import { backoffMs } from '../../clock/index.ts'
import type { Clock, Delivery } from '../../contracts/index.ts'
import { isJustonceError, type JustonceError } from '../../errors/index.ts'
import { brokerError } from './broker-errors.ts'
import type { Incarnation } from './incarnation.ts'

/** With growing pauses these last about half a minute. */
const patience = 10
/** A channel that has lived so long was in order. */
const longLifeMs = 10_000

export interface ReadingOptions {
  readonly clock: Clock
  /** A new channel that is subscribed. Rejects when the signal is aborted before it is. */
  open(signal: AbortSignal): Promise<Incarnation>
  /** There is one. */
  connected(): void
  onError(error: unknown): void
  /** What whoever reads should know. */
  notice(error: JustonceError): void
}

/**
 * Reads through one channel after the other. Throws when there is none to begin with, when what it reads is not there,
 * and when the broker stays away for long: whoever reads should know, and may simply begin again.
 */
export async function* readQueue(
  { clock, open, connected, onError, notice }: ReadingOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Delivery[], void, void> {
  let failures = 0
  let wasOpen = false
  while (!signal.aborted) {
    let incarnation: Incarnation
    try {
      incarnation = await open(signal)
    } catch (error) {
      if (signal.aborted) return
      if (!wasOpen || failures >= patience || isLasting(error)) throw error
      onError(error)
      await clock.sleep(backoffMs(failures++, clock), signal)
      continue
    }
    wasOpen = true
    connected()
    const openedAt = clock.monotonicMs()
    try {
      for (;;) {
        const deliveries = await incarnation.next(signal)
        if (deliveries === undefined) break
        yield deliveries
        incarnation.adjust()
      }
    } finally {
      await incarnation.leave()
    }
    if (signal.aborted) return
    if (incarnation.reason !== undefined) notice(brokerError(incarnation.reason, 'The channel was closed'))
    // A channel that is closed as soon as it is open must not be opened ever again without a pause.
    if (clock.monotonicMs() - openedAt > longLifeMs) failures = 0
    await clock.sleep(backoffMs(failures++, clock), signal)
  }
}

/** No amount of trying helps. */
function isLasting(error: unknown): boolean {
  return isJustonceError(error, 'BROKER_SETUP') || isJustonceError(error, 'BROKER_REFUSED')
}
