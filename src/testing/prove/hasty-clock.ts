import type { Clock } from '../../contracts/index.ts'

/** The clock of a simulated process: waits of the engine are skipped, and the time that handlers take is real. */
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
    /** Otherwise the timeout of a handler that a dead process never finished would keep the proof waiting. */
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
