import type { Clock } from '../contracts/index.ts'

/** The longest delay that setTimeout supports; a longer one would fire immediately. */
const longestDelayMs = 2 ** 31 - 1

/** The real clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  busyMs: () => performance.eventLoopUtilization().active,
  random: () => Math.random(),

  // Keeps the process alive, because code that sleeps has something to do afterwards.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const stop = after(ms, wake, true)
      function wake(): void {
        stop()
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
    }),

  // Does not keep the process alive: a timer watches other work, and that work keeps the process alive if it must.
  timer: (ms, callback) => ({ cancel: after(ms, callback, false) }),
}

function after(ms: number, callback: () => void, holdsProcess: boolean): () => void {
  let leftMs = Math.max(0, ms)
  let handle: NodeJS.Timeout
  const step = (): void => {
    const stepMs = Math.min(leftMs, longestDelayMs)
    leftMs -= stepMs
    handle = setTimeout(leftMs > 0 ? step : callback, stepMs)
    if (!holdsProcess) handle.unref()
  }
  step()
  return () => clearTimeout(handle)
}
