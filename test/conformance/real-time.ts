import type { Scheduler } from '../simulator/scheduler.ts'

/** The cases wait in real time, so virtual time must not run ahead of it. */
export function keepStepWithRealTime(scheduler: Scheduler): () => void {
  const begunAt = performance.now()
  let stopped = false
  const pump = async () => {
    while (!stopped) {
      await scheduler.runDue(performance.now() - begunAt)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  void pump()
  return () => {
    stopped = true
  }
}
