import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { atAddress, freePort, localhost } from '../servers/address.ts'

export interface RewritingProxy {
  url(original: string): string
  /** From now on the server gets `to` wherever the client has sent `from`; both must be of one length. */
  rewrite(from: string, to: string): void
  /** Everything goes through as it is again. */
  pass(): void
  stop(): Promise<void>
}

/** Makes a living server refuse a statement that is right. What it looks for must come in one piece, as our flights do. */
export async function rewritingProxy(original: string): Promise<RewritingProxy> {
  const { hostname, port: targetPort } = new URL(original)
  const port = await freePort()
  const sockets = new Set<Socket>()
  let rule: { readonly from: string; readonly to: string } | undefined
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
    client.on('data', (bytes) => server.write(rewritten(bytes as Buffer)))
    server.on('data', (bytes) => client.write(bytes))
  })
  listener.listen(port, localhost)
  await once(listener, 'listening')

  function rewritten(bytes: Buffer): Buffer {
    if (rule === undefined) return bytes
    return Buffer.from(bytes.toString('latin1').replaceAll(rule.from, rule.to), 'latin1')
  }

  return {
    url: (url) => atAddress(url, localhost, port),
    rewrite(from, to) {
      if (from.length !== to.length) throw new Error('The lengths in the messages would be wrong.')
      rule = { from, to }
    },
    pass() {
      rule = undefined
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}
