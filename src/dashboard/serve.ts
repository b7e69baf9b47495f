import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { checkOptions, JustonceError } from '../errors/index.ts'
import type { Operations } from '../operations/index.ts'
import { dashboard } from './dashboard.ts'
import type { OfShards } from './of-shards.ts'
import { type DashboardOptions, shortestToken } from './options.ts'

/** What `serveDashboard()` takes. */
export interface ServeOptions extends Pick<DashboardOptions, 'redact' | 'secretHeaders'> {
  /** Where it listens. Beyond this machine a token is needed. Default: 127.0.0.1. */
  readonly host?: string | undefined
  /** 0 for one that is free. Default: 4321. */
  readonly port?: number | undefined
  /** Whoever has this secret may do everything. Without it, everybody on this machine may. */
  readonly token?: string | undefined
  /** The name in the audit of what is done without a token. Default: each names themselves. */
  readonly by?: string | undefined
}

/** What `serveDashboard()` resolves to. */
export interface DashboardServer {
  /** Where a browser finds it; without the token. */
  readonly url: string
  close(): Promise<void>
}

export const defaultPort = 4321
const local = ['localhost', '127.0.0.1', '[::1]']

/** Serves the dashboard alone. Rejects if the port is taken. */
export async function serveDashboard(
  operations: Operations | OfShards,
  options: ServeOptions = {},
): Promise<DashboardServer> {
  checkOptions(options, ['host', 'port', 'token', 'by', 'redact', 'secretHeaders'], 'serveDashboard()')
  const { host = '127.0.0.1', port = defaultPort, token, by, redact, secretHeaders } = options
  const isLocal = isLoopback(host)
  if (!isLocal && token === undefined)
    throw new JustonceError('OPTION_INVALID', {
      message: `On ${host} others can reach the dashboard, so it needs a token of at least ${shortestToken} characters.`,
    })
  const everybody = () => ({ by, may: ['read', 'bodies', 'operate'] as const })
  const { nodeHandler } = dashboard(operations, {
    redact,
    secretHeaders,
    ...(token === undefined ? { access: everybody } : { token }),
    ...(isLocal && { hosts: [...local, inUrl(host)] }),
  })
  const server = createServer(nodeHandler)
  server.listen(port, host)
  await once(server, 'listening')
  const { port: chosen } = server.address() as AddressInfo
  return {
    url: `http://${inUrl(isAny(host) ? 'localhost' : host)}:${chosen}/`,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function inUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}
