import { type ByteProxy, byteProxy } from './byte-proxy.ts'
import { wireFrames } from './wire-frames.ts'

export interface CountingProxy extends ByteProxy {
  /** Of every transaction of the store since the last call, in order of their ends: how often its client has waited for the server. */
  trips(): number[]
  /** Since the last call, those of everybody, inside a transaction or not. */
  all(): number
}

/**
 * Counts round trips where they happen. What a client sends after it has heard from the server, with nothing left to be
 * answered, is a new one; what it sends before, in however many pieces, belongs to the one under way. A transaction of ours is known by its seal, and counts if
 * it names one of the handlers.
 *
 * Inside a transaction the client hears nothing until everything that it has sent is answered. Otherwise a busy machine would decide how
 * many answers it hears at once, and so how many trips its next statements take.
 */
export async function countingProxy(original: string, handlers: readonly string[]): Promise<CountingProxy> {
  let counted: number[] = []
  let every = 0
  const proxy = await byteProxy(original, () => {
    let open: number | undefined
    let isNamed = false
    let hasAnswered = true
    // Queries and Syncs that the server has not reported to be ready after.
    let unanswered = 0
    let held: Buffer[] = []
    const asked = wireFrames(
      (type) => {
        if (type === 'Q' || type === 'S') unanswered++
      },
      { hasStartup: true },
    )
    const said = wireFrames(
      (type) => {
        if (type === 'Z' && unanswered > 0) unanswered--
      },
      { hasStartup: false },
    )
    return {
      sent(bytes) {
        const text = bytes.toString('latin1')
        const isOpening = text.includes('DECLARE justonce_seal')
        if (isOpening) {
          open = 0
          isNamed = false
        }
        isNamed ||= handlers.some((name) => text.includes(name))
        const isTrip = (hasAnswered && unanswered === 0) || isOpening
        if (isTrip) every++
        if (isTrip && open !== undefined) open++
        asked(bytes)
        hasAnswered = false
        if (open !== undefined && text.includes('CLOSE justonce_seal')) {
          if (isNamed) counted.push(open)
          open = undefined
        }
        return bytes
      },
      answered(bytes) {
        said(bytes)
        held.push(bytes)
        if (open !== undefined && unanswered > 0) return Buffer.alloc(0)
        hasAnswered = true
        const answers = Buffer.concat(held)
        held = []
        return answers
      },
    }
  })
  return {
    ...proxy,
    trips() {
      const trips = counted
      counted = []
      return trips
    },
    all() {
      const trips = every
      every = 0
      return trips
    },
  }
}
