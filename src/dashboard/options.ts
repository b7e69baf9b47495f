import type { Headers } from '../contracts/index.ts'
import { secretHeaders as secretNames } from '../encoding/secret-headers.ts'
import { checkFunction, checkOptions, JustonceError } from '../errors/index.ts'

/**
 * - `read`: sees everything but bodies.
 * - `bodies`: also sees bodies, payloads of intents and results of handlers, after `redact`.
 * - `operate`: changes things: redrives, discards, pauses, resolves.
 */
export type Permission = 'read' | 'bodies' | 'operate'

/** Who asks, and what they may do. */
export interface Access {
  /** Their name in the audit. Without it, they are asked for one when they change something. */
  readonly by?: string | undefined
  readonly may: readonly Permission[]
}

/** What a body belongs to, for `redact`. */
export interface Redactable {
  readonly of: 'message' | 'intent' | 'result'
  /** The handler, or the effect of an intent. */
  readonly handler: string
  readonly type: string | undefined
  readonly headers: Headers
}

/** What `dashboard()` takes. */
export interface DashboardOptions {
  /** Whoever has this secret may do everything. At least 16 characters. Either this or `access` is needed. */
  readonly token?: string | undefined
  /** Decides by the request who asks and what they may do; `undefined` for nothing at all. Behind your own login, for example. */
  readonly access?: ((request: Request) => Access | undefined | Promise<Access | undefined>) | undefined
  /** Returns a body as it may be shown. It may be changed or replaced by a text; a message that it changes cannot be edited. Default: as it is. */
  readonly redact?: ((body: unknown, about: Redactable) => unknown) | undefined
  /** The names of headers whose values are never shown. Default: those that contain words such as authorization, cookie, token, secret, password or key. */
  readonly secretHeaders?: RegExp | undefined
  /** The path that it is mounted under, if the server does not take it away: `/justonce` in Fastify, nothing in Express and Hono. */
  readonly path?: string | undefined
  /** The only names under which it answers, without ports: protects a server without a login from pages that let their own name lead to it. Default: any. */
  readonly hosts?: readonly string[] | undefined
}

/** Options that have been checked. */
export interface Decided {
  readonly token: string | undefined
  readonly access: NonNullable<DashboardOptions['access']> | undefined
  readonly redact: NonNullable<DashboardOptions['redact']>
  readonly secretHeaders: RegExp
  readonly path: string
  readonly hosts: ReadonlySet<string> | undefined
}

const known = ['token', 'access', 'redact', 'secretHeaders', 'path', 'hosts']
export const shortestToken = 16

export function decideOptions(options: DashboardOptions): Decided {
  checkOptions(options, known, 'dashboard()')
  const { token, access, redact = (body: unknown) => body, secretHeaders = secretNames, path = '', hosts } = options
  if ((token === undefined) === (access === undefined))
    throw invalid('dashboard() needs either token or access: it must know who may see and change your messages.')
  if (token !== undefined) checkToken(token)
  if (access !== undefined) checkFunction(access, 'access')
  checkFunction(redact, 'redact')
  if (!(secretHeaders instanceof RegExp)) throw invalid(`secretHeaders is ${String(secretHeaders)}, not a RegExp.`)
  if (typeof path !== 'string' || !/^(\/[^?#]*)?$/.test(path))
    throw invalid(`path is ${String(path)}, but must begin with a slash.`)
  const names = hosts && new Set(hosts.map((host) => host.toLowerCase()))
  // A global RegExp remembers where it stopped, and would mask every second header.
  const stateless = new RegExp(secretHeaders.source, secretHeaders.flags.replace(/[gy]/g, ''))
  return { token, access, redact, secretHeaders: stateless, path: asRequested(path).replace(/\/+$/, ''), hosts: names }
}

/** As addresses of requests have it: `/größe` is `/gr%C3%B6%C3%9Fe` there. */
function asRequested(path: string): string {
  return path === '' ? path : new URL(`http://localhost${path}`).pathname
}

function checkToken(token: string): void {
  if (typeof token === 'string' && token.length >= shortestToken && token === token.trim()) return
  // Without its value: messages end up in logs.
  throw invalid(`token must be text of at least ${shortestToken} characters without white space around it.`)
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
