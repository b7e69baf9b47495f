import { type ByteProxy, byteProxy } from '../postgres/byte-proxy.ts'

export interface CountingProxy extends ByteProxy {
  /** Of every transaction of the store since the last call, in order of their ends: how often its client has waited for the server. */
  trips(): number[]
}

/**
 * Counts round trips where they happen: what a client sends after it has heard from the server is a new one. A transaction of
 * ours begins with its session and ends with its commit, and counts if it names one of the handlers.
 */
export async function countingProxy(original: string, handlers: readonly string[]): Promise<CountingProxy> {
  let counted: number[] = []
  const names = handlers.map((name) => Buffer.from(name).toString('hex'))
  const proxy = await byteProxy(original, () => {
    let open: number | undefined
    let isNamed = false
    let hasAnswered = true
    return {
      sent(bytes) {
        const text = bytes.toString('latin1')
        if (text.includes('SET @justonce_autocommit')) {
          open = 0
          isNamed = false
        }
        isNamed ||= names.some((name) => text.toLowerCase().includes(name))
        if (open !== undefined && hasAnswered) open++
        hasAnswered = false
        if (open !== undefined && text.includes('COMMIT AND NO CHAIN')) {
          if (isNamed) counted.push(open)
          open = undefined
        }
        return bytes
      },
      answered(bytes) {
        hasAnswered = true
        return bytes
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
