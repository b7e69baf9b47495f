import type { Clock } from '../../contracts/index.ts'

/** For waiting inside one process when no clock is passed in. They decide only how long to wait. */
export const systemTimers: Pick<Clock, 'timer' | 'monotonicMs'> = {
  monotonicMs: () => performance.now(),
  timer(ms, callback) {
    const timeout = setTimeout(callback, ms)
    return { cancel: () => clearTimeout(timeout) }
  },
}
