import type { Clock, Queue } from '../contracts/index.ts'

/** Other processes are notified at most this often that something was sent. */
const announceEveryMs = 50

/** Shared by the transports of one process on one queue, so that they wake each other without the database. */
export interface QueueChannel {
  /** The returned function removes the listener. */
  onSent(wake: () => void): () => void
  /** Something was sent and committed: wakes this process immediately, and the others through the store. */
  sent(how: { readonly clock: Clock; onError(error: unknown): void }): void
  /**
   * The messages behind a settled message of the same key can be taken now. Only this process is notified: it has just
   * shown that it is working here.
   */
  freed(): void
  /** Sends pending announcements now, because the process may be about to end. */
  flush(): Promise<void>
}

const channels = new WeakMap<object, Map<string, QueueChannel>>()

export function queueChannel<Tx>(queue: Queue<Tx>, name: string): QueueChannel {
  const known = channels.get(queue) ?? new Map<string, QueueChannel>()
  channels.set(queue, known)
  const channel = known.get(name) ?? newChannel(queue, name)
  known.set(name, channel)
  return channel
}

function newChannel<Tx>(queue: Queue<Tx>, name: string): QueueChannel {
  const wakes = new Set<() => void>()
  let pause: { cancel(): void } | undefined
  let again: (() => Promise<void>) | undefined
  const wakeAll = (): void => {
    for (const wake of wakes) wake()
  }

  return {
    onSent(wake) {
      wakes.add(wake)
      return () => void wakes.delete(wake)
    },
    sent({ clock, onError }) {
      wakeAll()
      if (queue.announce === undefined) return
      const announce = async (): Promise<void> => {
        pause = clock.timer(announceEveryMs, () => {
          pause = undefined
          const next = again
          again = undefined
          void next?.()
        })
        await queue.announce?.(name).catch(onError)
      }
      if (pause === undefined) void announce()
      else again = announce
    },
    freed: wakeAll,
    async flush() {
      const last = again
      again = undefined
      pause?.cancel()
      pause = undefined
      await last?.()
    },
  }
}
