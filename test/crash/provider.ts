import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What becomes of a call that has been done: it is answered, the line is cut, or the answer comes when nobody is there any more. */
export type Answering = 'answer' | 'hang-up' | 'when-gone'

export interface ProviderOptions {
  /** Whether a key that was seen before is answered without doing it again. */
  readonly honoursKeys: (path: string) => boolean
  /** `nth`: 1 for the first call of this path. */
  readonly answering: (path: string, nth: number) => Answering
}

/** A service outside: it does what it is told by POST, and says by GET whether a key was done. */
export interface Provider extends AsyncDisposable {
  readonly url: string
  /** How often it was called, done or not. */
  calls(path: string): number
  /** How often it has done it. */
  times(path: string): number
}

export async function openProvider({ honoursKeys, answering }: ProviderOptions): Promise<Provider> {
  const calls = new Map<string, number>()
  const done = new Map<string, string[]>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await request.toArray()
    const { pathname, searchParams } = new URL(request.url as string, 'http://provider')
    const path = decodeURIComponent(pathname.slice(1))
    const keys = done.get(path) ?? []
    done.set(path, keys)
    if (request.method === 'GET') return void response.end(String(keys.includes(searchParams.get('key') as string)))
    const nth = (calls.get(path) ?? 0) + 1
    calls.set(path, nth)
    const key = String(request.headers['idempotency-key'])
    if (!honoursKeys(path) || !keys.includes(key)) keys.push(key)
    const how = answering(path, nth)
    if (how === 'hang-up') return void request.socket.destroy()
    if (how === 'when-gone') await once(response, 'close')
    response.end('{}')
  }

  const server = createServer(
    (request, response) => void serve(request, response).catch(() => request.socket.destroy()),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls: (path) => calls.get(path) ?? 0,
    times: (path) => done.get(path)?.length ?? 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
