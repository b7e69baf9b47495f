import type { Clock } from '../contracts/index.ts'

/** A clock that stands still until it is advanced. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward and runs everything that becomes due, in order of time, each at its own `now()`. After each one, the
   * promises it settled get their turn, so whatever they start is also run if it becomes due.
   */
  advance(ms: number): Promise<void>
  /** How many sleeps and timers have not ended. */
  waiting(): number
}

/** What `fakeClock()` takes. */
export interface FakeClockOptions {
  /** Default: 2030-01-01T00:00:00Z. */
  readonly start?: Date
  /** Default: always 0.5. */
  readonly random?: () => number
}

interface Alarm {
  readonly atMs: number
  ring(): void
}

/**
 * @example
 * const clock = fakeClock()
 * const app = justonce({ store, transport, clock })
 * await clock.advance(60_000)
 */
/** A clock that stands still until a test moves it. */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  const startMs = (options.start ?? new Date('2030-01-01T00:00:00Z')).getTime()
  const alarms = new Set<Alarm>()
  let elapsedMs = 0

  const setAlarm = (ms: number, ring: () => void): (() => void) => {
    const alarm = { atMs: elapsedMs + Math.max(0, ms), ring }
    alarms.add(alarm)
    return () => void alarms.delete(alarm)
  }

  return {
    now: () => new Date(startMs + elapsedMs),
    monotonicMs: () => elapsedMs,
    random: options.random ?? (() => 0.5),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const cancel = setAlarm(ms, wake)
        function wake(): void {
          cancel()
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        signal?.addEventListener('abort', wake)
      }),
    timer: (ms, callback) => ({ cancel: setAlarm(ms, callback) }),
    async advance(ms) {
      const targetMs = elapsedMs + ms
      await promisesSettled()
      for (let alarm = nextDue(alarms, targetMs); alarm; alarm = nextDue(alarms, targetMs)) {
        alarms.delete(alarm)
        elapsedMs = Math.max(elapsedMs, alarm.atMs)
        alarm.ring()
        await promisesSettled()
      }
      elapsedMs = Math.max(elapsedMs, targetMs)
    },
    waiting: () => alarms.size,
  }
}

/** The earliest one. Of two at the same time, the one that was set first. */
function nextDue(alarms: Iterable<Alarm>, untilMs: number): Alarm | undefined {
  let next: Alarm | undefined
  for (const alarm of alarms) {
    if (alarm.atMs <= untilMs && (next === undefined || alarm.atMs < next.atMs)) next = alarm
  }
  return next
}

/** A turn of the event loop comes after all promise callbacks, including those that earlier ones have queued. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
