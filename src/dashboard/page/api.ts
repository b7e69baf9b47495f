/** Where the dashboard is mounted, with or without a slash at the end of the address. */
const base = `${location.pathname.replace(/\/$/, '')}/`
const tokenName = 'justonce-token'

/** What the server answered instead of doing it. */
export class Refused extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The token is kept for this tab only, and never in an address: those end up in histories and logs. */
export function keepToken(token: string): void {
  sessionStorage.setItem(tokenName, token)
}

/** A link may bring the token behind its #, which browsers send to nobody. It is taken out of the address at once. */
export function takeTokenFromAddress(): void {
  const [, token] = /^#token=(.+)$/.exec(location.hash) ?? []
  if (token === undefined) return
  keepToken(decoded(token))
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
}

/** Somebody may have put it there as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return await ask<T>(`${path}${queryText(query)}`, { method: 'GET', ...(signal && { signal }) })
}

export async function post<T>(path: string, input: object): Promise<T> {
  return await ask<T>(path, { method: 'POST', body: JSON.stringify(input) })
}

export type Query = Readonly<Record<string, string | number | undefined>>

export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  const token = sessionStorage.getItem(tokenName)
  const headers = {
    'x-justonce-dashboard': '1',
    ...(init.method === 'POST' && { 'content-type': 'application/json' }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  }
  const answer = await fetch(`${base}api/${path}`, { ...init, headers }).catch((error: Error) => {
    if (error.name === 'AbortError') throw error
    throw new Refused(0, 'UNREACHABLE', 'The dashboard’s server does not answer. This page tries again.')
  })
  const value = await answer.json().catch(() => undefined)
  if (answer.ok) return value as T
  throw new Refused(answer.status, value?.code ?? 'FAILED', value?.message ?? `The server answered ${answer.status}.`)
}
