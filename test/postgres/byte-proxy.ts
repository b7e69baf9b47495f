import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { atAddress, freePort, localhost } from '../servers/address.ts'

export interface ByteProxy {
  url(original: string): string
  stop(): Promise<void>
}

/** What to do with the pieces that pass on one connection. */
export interface Watcher {
  /** What the client sends; the server gets what is returned. */
  sent(bytes: Buffer): Buffer
  /** What the server answers; the client gets what is returned. */
  answered?(bytes: Buffer): Buffer
}

/** Lets a test see and change what a client sends, piece by piece. */
export async function byteProxy(original: string, watch: () => Watcher): Promise<ByteProxy> {
  const { hostname, port: targetPort } = new URL(original)
  const port = await freePort()
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const server = connect({ host: hostname, port: Number(targetPort) })
    const watcher = watch()
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
    client.on('data', (bytes) => server.write(watcher.sent(bytes as Buffer)))
    server.on('data', (bytes) => client.write(watcher.answered?.(bytes as Buffer) ?? bytes))
  })
  listener.listen(port, localhost)
  await once(listener, 'listening')
  return {
    url: (url) => atAddress(url, localhost, port),
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}
