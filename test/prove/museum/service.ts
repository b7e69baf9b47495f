import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service on this machine that remembers its calls. */
export async function startService(): Promise<{ readonly url: string; readonly calls: string[]; stop(): void }> {
  const calls: string[] = []
  const server: Server = createServer((request, response) => {
    calls.push(String(request.url))
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, calls, stop: () => void server.close() }
}
