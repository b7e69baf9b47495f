import { renewEveryMs } from '../clock/index.ts'
import type { Clock, Queue, QueuedMessage } from '../contracts/index.ts'

/** A publisher that has not answered for this long never will, so other relays may try. */
const keptForMs = 300_000

export interface KeepOptions {
  readonly queue: Pick<Queue<unknown>, 'hide'>
  readonly name: string
  readonly leaseMs: number
  readonly clock: Clock
}

/**
 * Hides messages from other relays while they are being sent: otherwise each relay would send everything again to a broker that
 * is already slow. Settles as the work does, and by then nothing is being hidden any more.
 */
export async function keepTaken<T>(
  taken: readonly QueuedMessage[],
  { queue, name, leaseMs, clock }: KeepOptions,
  work: () => Promise<T>,
): Promise<T> {
  const until = clock.monotonicMs() + keptForMs
  let renewal: { cancel(): void } | undefined
  let renewing: Promise<void> = Promise.resolve()
  let hasEnded = false
  const renew = async (): Promise<void> => queue.hide(name, taken, leaseMs)
  const renewLater = (): void => {
    if (hasEnded || clock.monotonicMs() > until) return
    renewal = clock.timer(renewEveryMs(leaseMs), () => {
      renewing = renew().then(renewLater, renewLater)
    })
  }
  renewLater()
  try {
    return await work()
  } finally {
    hasEnded = true
    renewal?.cancel()
    // A late renewal would hide again what is given back.
    await renewing
  }
}
