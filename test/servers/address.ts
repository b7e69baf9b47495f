import { once } from 'node:events'
import { createServer } from 'node:net'

export const localhost = '127.0.0.1'

const lowestPort = 20_000
const portCount = 10_000

/**
 * A port nobody listens on. Chosen below the range the kernel gives to outgoing connections: a client that keeps
 * reconnecting while the server is down could otherwise be given the server's own port, and the restart would fail.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowestPort + Math.floor(Math.random() * portCount)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, localhost)
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** The same URL at another address: the way to go through a proxy or a pooler. */
export function atAddress(url: string, host: string, port: number): string {
  const moved = new URL(url)
  moved.hostname = host
  moved.port = String(port)
  return moved.href
}
