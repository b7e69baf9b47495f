import { type ByteProxy, byteProxy } from './byte-proxy.ts'

export interface CountingProxy extends ByteProxy {
  /** Of every transaction of the store since the last call, in order of their ends: how often its client has waited for the server. */
  trips(): number[]
}

/**
 * Counts round trips where they happen. Whatever a client sends after it has heard from the server is a new one; what it
 * sends before, in however many pieces, belongs to the one under way. A transaction of ours is known by its seal, and counts if
 * it names one of the handlers.
 */
export async function countingProxy(original: string, handlers: readonly string[]): Promise<CountingProxy> {
  let counted: number[] = []
  const proxy = await byteProxy(original, () => {
    let open: number | undefined
    let isNamed = false
    let hasAnswered = true
    return {
      sent(bytes) {
        const text = bytes.toString('latin1')
        const isOpening = text.includes('DECLARE justonce_seal')
        if (isOpening) {
          open = 0
          isNamed = false
        }
        isNamed ||= handlers.some((name) => text.includes(name))
        if (open !== undefined && (hasAnswered || isOpening)) open++
        hasAnswered = false
        if (open !== undefined && text.includes('CLOSE justonce_seal')) {
          if (isNamed) counted.push(open)
          open = undefined
        }
        return bytes
      },
      answered() {
        hasAnswered = true
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
  }
}
