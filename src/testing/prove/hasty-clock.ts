import type { Clock } from '../../contracts/index.ts'

/** The clock of a simulated process: the engine's own waiting is skipped, what handlers take is measured in real time. */
export function hastyClock(): Clock & { stop(): void } {
  const timers = new Set<NodeJS.Timeout>()
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    timer(ms, callback) {
      const timer = setTimeout(callback, ms)
      timers.add(timer)
      return {
        cancel() {
          clearTimeout(timer)
          timers.delete(timer)
        },
      }
    },
    random: () => 0.5,
    /** The timeout of a handler that a dead process never finished would keep everything waiting. */
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
