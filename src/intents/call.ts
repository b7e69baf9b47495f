import type { Clock } from '../contracts/index.ts'
import { DidNotHappen, JustonceError } from '../errors/index.ts'
import { stopwatch } from './time-limit.ts'

/** What has become of a call of the user's code. */
export type CallOutcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }

export interface Called {
  readonly outcome: CallOutcome
  /** If the time was up first: what becomes of it after all. It may never resolve. */
  readonly late: Promise<CallOutcome> | undefined
}

/** Calls with a signal that is aborted when the time is up, and does not wait for longer than that. Never rejects. */
export async function callWithin(
  clock: Clock,
  { what, timeoutMs }: { readonly what: string; readonly timeoutMs: number },
  call: (signal: AbortSignal, assertInTime: () => void) => unknown,
): Promise<Called> {
  const passedMs = stopwatch(clock)
  // After a freeze, timers ring after what has arrived meanwhile: the signal may be the last to know.
  const assertInTime = (): void => {
    if (passedMs() >= timeoutMs) throw new DidNotHappen(`${what} was held up for ${timeoutMs} ms before it called.`)
  }
  const timeout = new AbortController()
  const isUp = Promise.withResolvers<Called>()
  const settled = settle(() => call(timeout.signal, assertInTime))
  const timer = clock.timer(timeoutMs, () => {
    const error = new JustonceError('INTENT_TIMEOUT', { message: `${what} has not ended within ${timeoutMs} ms.` })
    timeout.abort(error)
    isUp.resolve({ outcome: { kind: 'threw', error }, late: settled })
  })
  try {
    return await Promise.race([settled.then((outcome) => ({ outcome, late: undefined })), isUp.promise])
  } finally {
    timer.cancel()
  }
}

async function settle(call: () => unknown): Promise<CallOutcome> {
  try {
    return { kind: 'returned', value: await call() }
  } catch (error) {
    return { kind: 'threw', error }
  }
}
