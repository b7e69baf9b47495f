import { atAddress, localhost } from '../../test/servers/address.ts'
import { startDelayLine } from './delay-line.ts'
import { addedRoundTrip, type RoundTrips, startEcho } from './ping.ts'

/** A server behind a delay line. */
export interface Farther {
  readonly url: string
  /** How much longer a round trip takes than without the delay line. */
  readonly added: RoundTrips
  stop(): Promise<void>
}

/** The same server, so many milliseconds of round trip farther away. 0 is the server itself. */
export async function farther(url: string, rttMs: number): Promise<Farther> {
  if (rttMs === 0) return { url, added: { p10Ms: 0, medianMs: 0, p99Ms: 0 }, stop: async () => {} }
  const { eachWayMs, added } = await tune(rttMs)
  const line = await startDelayLine(Number(new URL(url).port), eachWayMs)
  return { url: atAddress(url, localhost, line.port), added, stop: () => line.stop() }
}

/** The way through another process takes time, too. So the delay is shorter by as much as a round trip takes too long. */
async function tune(rttMs: number): Promise<{ readonly eachWayMs: number; readonly added: RoundTrips }> {
  const echo = await startEcho()
  try {
    const addedBy = async (eachWayMs: number): Promise<RoundTrips> => {
      const line = await startDelayLine(echo.port, eachWayMs)
      const added = await addedRoundTrip(line.port, echo.port)
      await line.stop()
      return added
    }
    const late = (await addedBy(rttMs / 2)).p10Ms - rttMs
    const eachWayMs = Math.max(0, (rttMs - late) / 2)
    return { eachWayMs, added: await addedBy(eachWayMs) }
  } finally {
    await echo.stop()
  }
}
