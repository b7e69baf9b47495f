import type { Clock, Queue, QueuedMessage } from '../contracts/index.ts'

/** A publisher that has not answered for so long never will; others may try. */
const keptForMs = 300_000

export interface KeepOptions {
  readonly queue: Pick<Queue<unknown>, 'hide'>
  readonly name: string
  readonly leaseMs: number
  readonly clock: Clock
}

/**
 * Keeps what is being sent from others for as long as the sending takes: a broker that is slow already would be sent everything
 * once more by each of them. Resolves, or rejects, as the work does, and then nothing is being hidden any more.
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
    // A third of the time, so that one failed renewal does not lose anything.
    renewal = clock.timer(leaseMs / 3, () => {
      renewing = renew().then(renewLater, renewLater)
    })
  }
  renewLater()
  try {
    return await work()
  } finally {
    hasEnded = true
    renewal?.cancel()
    // It would hide again what is given back.
    await renewing
  }
}
