import type { Clock, Queue } from '../contracts/index.ts'

export interface ListeningOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly retryMs: number
  wake(): void
  /** Called with whether other processes can be heard now. */
  onHearing?(isHearing: boolean): void
  onError(error: unknown): void
}

/**
 * Listens, until the signal is aborted, for messages that other processes send. While it cannot listen, polling finds
 * them. Resolves when the listening has ended.
 */
export async function listenForNews<Tx>(queue: Queue<Tx>, name: string, options: ListeningOptions): Promise<void> {
  const { signal, clock, retryMs, wake, onHearing, onError } = options
  while (!signal.aborted && queue.listen !== undefined) {
    try {
      const stop = await queue.listen(name, wake)
      onHearing?.(true)
      // Nothing was notified of messages that were sent before the listening began.
      wake()
      await aborted(signal)
      await stop()
    } catch (error) {
      onHearing?.(false)
      onError(error)
      await clock.sleep(retryMs, signal)
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
