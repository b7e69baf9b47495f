import { atAddress, localhost } from '../../test/servers/address.ts'
import { startDelayLine } from './delay-line.ts'
import { pingPong, type RoundTrips, startEcho } from './ping.ts'

/** A server behind a delay line. */
export interface Farther {
  readonly url: string
  /** How much longer a round trip takes than without the delay line. */
  readonly added: RoundTrips
  stop(): Promise<void>
}

/** The same server, so many milliseconds of round trip farther away. 0 is the server itself. */
export async function farther(url: string, rttMs: number): Promise<Farther> {
  if (rttMs === 0) return { url, added: { medianMs: 0, p99Ms: 0 }, stop: async () => {} }
  const { eachWayMs, added } = await tune(rttMs)
  const line = await startDelayLine(Number(new URL(url).port), eachWayMs)
  return { url: atAddress(url, localhost, line.port), added, stop: () => line.stop() }
}

/** The way through another process takes time, too. So the delay is so much shorter that the median is what is wanted. */
async function tune(rttMs: number): Promise<{ readonly eachWayMs: number; readonly added: RoundTrips }> {
  const echo = await startEcho()
  try {
    const direct = await pingPong(echo.port)
    const addedBy = async (eachWayMs: number): Promise<RoundTrips> => {
      const line = await startDelayLine(echo.port, eachWayMs)
      const { medianMs, p99Ms } = await pingPong(line.port)
      await line.stop()
      return { medianMs: medianMs - direct.medianMs, p99Ms: p99Ms - direct.medianMs }
    }
    const late = (await addedBy(rttMs / 2)).medianMs - rttMs
    const eachWayMs = Math.max(0, (rttMs - late) / 2)
    return { eachWayMs, added: await addedBy(eachWayMs) }
  } finally {
    await echo.stop()
  }
}
