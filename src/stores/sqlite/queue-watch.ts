import type { Reader } from './reader.ts'

/** Notifies listeners that something may have been sent to their queue. */
export interface QueueWatch {
  listen(queue: string, wake: () => void): Promise<() => Promise<void>>
  announce(queue: string): void
  close(): void
}

interface Listener {
  readonly queue: string
  wake(): void
}

const lookEveryMs = 25

/**
 * SQLite cannot notify other processes, but a connection can cheaply (no lock, no read of the file) detect that another one
 * has committed. So it checks often. What was sent through this store is announced at once.
 */
export function queueWatch(reader: Reader): QueueWatch {
  const listeners = new Set<Listener>()
  let timer: ReturnType<typeof setInterval> | undefined
  let seen: number | undefined

  const versionNow = (): number | undefined => {
    try {
      return reader.dataVersion()
    } catch {
      // The file is unreachable for now; the transport's polls will detect that.
      return undefined
    }
  }

  const look = (): void => {
    const version = versionNow()
    if (version === undefined || version === seen) return
    seen = version
    for (const { wake } of listeners) wake()
  }

  const stopWhenAlone = (): void => {
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    async listen(queue, wake) {
      const listener = { queue, wake }
      listeners.add(listener)
      if (timer === undefined) {
        seen = versionNow()
        timer = setInterval(look, lookEveryMs)
      }
      return async () => {
        listeners.delete(listener)
        stopWhenAlone()
      }
    },
    announce(queue) {
      for (const listener of listeners) if (listener.queue === queue) listener.wake()
    },
    close() {
      listeners.clear()
      stopWhenAlone()
    },
  }
}
