import { once } from 'node:events'
import { createServer } from 'node:net'

export const localhost = '127.0.0.1'

const lowestPort = 20_000
/** A server may take seconds from the choice of its port to its use: test files that run side by side choose among others. */
const shares = 4
const portsInShare = 2_500
const chosen = new Set<number>()

/**
 * A port nobody listens on. Chosen below the range the kernel gives to outgoing connections: a client that keeps
 * reconnecting while the server is down could otherwise be given the server's own port, and the restart would fail.
 */
export async function freePort(): Promise<number> {
  const share = Number(process.env.VITEST_POOL_ID ?? 0) % shares
  for (;;) {
    const port = lowestPort + share * portsInShare + Math.floor(Math.random() * portsInShare)
    if (chosen.has(port)) continue
    chosen.add(port)
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
