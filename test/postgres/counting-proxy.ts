import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { atAddress, freePort, localhost } from '../servers/address.ts'

export interface CountingProxy {
  url(original: string): string
  /** Of every transaction of the store since the last call, in order of their ends: how often its client has waited for the server. */
  trips(): number[]
  stop(): Promise<void>
}

/**
 * Counts round trips where they happen. Whatever a client sends after it has heard from the server is a new one; what it
 * sends before, in however many pieces, belongs to the one under way. A transaction of ours is known by its seal, and counts if
 * it names one of the handlers.
 */
export async function countingProxy(original: string, handlers: readonly string[]): Promise<CountingProxy> {
  const { hostname, port: targetPort } = new URL(original)
  const port = await freePort()
  const sockets = new Set<Socket>()
  let counted: number[] = []
  const listener = createServer((client) => {
    const server = connect({ host: hostname, port: Number(targetPort) })
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
    let open: number | undefined
    let isNamed = false
    let hasAnswered = true
    client.on('data', (bytes) => {
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
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      hasAnswered = true
      client.write(bytes)
    })
  })
  listener.listen(port, localhost)
  await once(listener, 'listening')
  return {
    url: (url) => atAddress(url, localhost, port),
    trips() {
      const trips = counted
      counted = []
      return trips
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}
