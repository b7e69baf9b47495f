import { createHash, timingSafeEqual } from 'node:crypto'
import type { Access, Decided, Permission } from './options.ts'
import { Refusal } from './refusal.ts'

/** A header that a page of another origin cannot send without being asked first, and it is never allowed to. */
export const ownHeader = 'x-justonce-dashboard'

const everything: readonly Permission[] = ['read', 'bodies', 'operate']

/** A page that has let its own name lead to this address (DNS rebinding) still asks under that name. */
export function checkHost(url: URL, { hosts }: Pick<Decided, 'hosts'>): void {
  if (hosts === undefined || hosts.has(url.hostname.toLowerCase())) return
  throw new Refusal(421, 'HOST_UNKNOWN', 'This dashboard does not answer under that name.')
}

/** Requests that other pages let the browser send: forms, images, scripts and `fetch` from another origin. */
export function checkOrigin(request: Request, url: URL): void {
  const { headers, method } = request
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site !== null ? site !== 'same-origin' && site !== 'none' : origin !== null && !isSameHost(origin, url))
    throw crossOrigin()
  if (method === 'GET') return
  if (headers.get(ownHeader) === null) throw crossOrigin()
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() === 'application/json') return
  throw new Refusal(415, 'NOT_JSON', 'Only application/json is taken.')
}

function crossOrigin(): Refusal {
  return new Refusal(403, 'CROSS_ORIGIN', 'This did not come from the page of the dashboard.')
}

function isSameHost(origin: string, url: URL): boolean {
  return URL.canParse(origin) && new URL(origin).host === url.host
}

export async function accessOf(
  request: Request,
  { token, access }: Pick<Decided, 'token' | 'access'>,
): Promise<Access> {
  const granted = access === undefined ? byToken(request, token ?? '') : await decided(request, access)
  if (granted?.may.includes('read')) return granted
  throw new Refusal(401, token === undefined ? 'NOT_ALLOWED' : 'TOKEN_WRONG', 'You may not see this.')
}

async function decided(request: Request, access: NonNullable<Decided['access']>): Promise<Access | undefined> {
  try {
    return await access(request)
  } catch (error) {
    // Not for strangers to read.
    console.error(`justonce dashboard: access() failed: ${error instanceof Error ? error.message : String(error)}`)
    throw new Refusal(503, 'ACCESS_FAILED', 'It could not be decided whether you may see this.')
  }
}

function byToken({ headers }: Request, token: string): Access | undefined {
  const [, given = ''] = /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '') ?? []
  return isSame(given, token) ? { may: everything } : undefined
}

/** Compares hashes, which have one length, in a time that says nothing about them. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(token))
}

export function checkPermission({ may }: Access, needed: Permission): void {
  if (may.includes(needed)) return
  throw new Refusal(403, 'NOT_ALLOWED', needed === 'bodies' ? 'You may not see bodies.' : 'You may only look.')
}
