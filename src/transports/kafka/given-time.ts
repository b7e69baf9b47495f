import type { Clock } from '../../contracts/index.ts'

/** How long brokers may take to answer when we leave. */
export const farewellMs = 3_000

/** Resolves when the work has ended or its time is up, and then ignores its result. Rejects only if the work does. */
export async function givenTime(work: Promise<unknown>, clock: Clock, ms = farewellMs): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.timer(ms, resolve)
  work.catch(() => {})
  try {
    await Promise.race([work, promise])
  } finally {
    timer.cancel()
  }
}
