import { backoffMs } from '../../clock/index.ts'
import type { Clock, Delivery } from '../../contracts/index.ts'
import { isJustonceError, type JustonceError } from '../../errors/index.ts'
import { brokerError } from './broker-errors.ts'
import type { ChannelLife } from './channel-life.ts'

/** With growing pauses, these take about half a minute. */
const patience = 10
/** A channel that lasted this long was healthy. */
const longLifeMs = 10_000

export interface ReadingOptions {
  readonly clock: Clock
  /** Opens a new channel and subscribes on it. Rejects if the signal is aborted before that. */
  open(signal: AbortSignal): Promise<ChannelLife>
  /** Called when a channel is open. */
  connected(): void
  onError(error: unknown): void
  /** Reports something that the reader should know. */
  notice(error: JustonceError): void
}

/**
 * Reads through one channel after another. Throws if the first one cannot be opened, if the queue cannot be read, and if the
 * broker is unreachable for long: the reader should know, and may simply start again.
 */
export async function* readQueue(
  { clock, open, connected, onError, notice }: ReadingOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Delivery[], void, void> {
  let failures = 0
  let wasOpen = false
  while (!signal.aborted) {
    let life: ChannelLife
    try {
      life = await open(signal)
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
        const deliveries = await life.next(signal)
        if (deliveries === undefined) break
        yield deliveries
        life.adjust()
      }
    } finally {
      await life.leave()
    }
    if (signal.aborted) return
    if (life.reason !== undefined) notice(brokerError(life.reason, 'The channel was closed'))
    // If channels are closed as soon as they are open, there must be a pause before each new one.
    if (clock.monotonicMs() - openedAt > longLifeMs) failures = 0
    await clock.sleep(backoffMs(failures++, clock), signal)
  }
}

/** Whether retrying cannot help. */
function isLasting(error: unknown): boolean {
  return isJustonceError(error, 'BROKER_SETUP') || isJustonceError(error, 'BROKER_REFUSED')
}
