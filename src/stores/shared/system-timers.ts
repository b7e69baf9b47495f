import type { Clock } from '../../contracts/index.ts'

/** For waiting inside one process, where no clock is passed in: nothing is decided by these but patience. */
export const systemTimers: Pick<Clock, 'timer' | 'monotonicMs'> = {
  monotonicMs: () => performance.now(),
  timer(ms, callback) {
    const timeout = setTimeout(callback, ms)
    return { cancel: () => clearTimeout(timeout) }
  },
}
