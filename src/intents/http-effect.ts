import { checkFunction, DidNotHappen, JustonceError } from '../errors/index.ts'
import { defaultTimeoutMs } from './decide-effect.ts'
import type { EffectContext, EffectOptions, Intent } from './effect.ts'
import { provesNothingSent } from './nothing-sent.ts'
import { readAnswer, withinTime } from './read-answer.ts'

type FromIntent<Payload, Value> = Value | ((intent: Intent<Payload>) => Value)

/** What `httpEffect()` takes: those of an effect, and the request. */
export interface HttpEffectOptions<Payload = unknown, Result = unknown>
  extends Omit<EffectOptions<Payload, Result>, 'run'> {
  /** Where to. A function of the intent, if it depends on it. */
  readonly url: FromIntent<Payload, string | URL>
  /** The HTTP method. Default: `POST`. */
  readonly method?: string
  /** Further headers, for example of authorization. */
  readonly headers?: FromIntent<Payload, Readonly<Record<string, string>>>
  /** The value that is sent as JSON, or text that is sent as it is. Default: the payload. */
  readonly body?: (intent: Intent<Payload>) => unknown
  /** The header that carries the idempotency key. It is always sent, also to providers that ignore it. Default: `Idempotency-Key`. */
  readonly keyHeader?: string
  /**
   * Answers that prove that nothing has happened and that calling again cannot help: the intent is given up. Every other answer that is
   * not 2xx proves nothing. Of `'4xx'`, 401 is called again: it is about your credentials and not about the call. Default: none.
   */
  readonly refused?: readonly number[] | '4xx'
  /** Answers that prove that nothing has happened: it is called again, when `Retry-After` says so, a day later at most. Default: 429. */
  readonly later?: readonly number[]
  /** What is kept of an answer that is 2xx. Default: its status, and its body if it has at most 64 KiB. */
  readonly result?: (response: Response) => Promise<Result> | Result
  /** What makes the request. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

const longestBody = 65_536
const longestShown = 300
const longestDelayMs = 86_400_000

/**
 * An effect that makes an HTTP request with the idempotency key, and that knows which failures prove that nothing has happened: no
 * connection, or an answer that you have listed. A timeout, a reset or a 5xx proves nothing.
 *
 * ```ts
 * app.effect('email.welcome', httpEffect({ url: 'https://mail.example/send', keyed: true }))
 * ```
 */
export function httpEffect<Payload = unknown, Result = unknown>(
  options: HttpEffectOptions<Payload, Result>,
): EffectOptions<Payload, Result> {
  const { url, method, headers, body, keyHeader, refused, later, result, fetch, ...rest } = options
  checkOwn({ url, method, headers, body, keyHeader, refused, later, result, fetch })
  return { ...rest, run: (intent, context) => request(options, intent, context) }
}

function checkOwn(own: { readonly [Name in keyof HttpEffectOptions]?: unknown }): void {
  const { url, body, result, fetch, refused = [] } = own
  if (!(typeof url === 'string' || typeof url === 'function' || url instanceof URL))
    throw new JustonceError('OPTION_INVALID', { message: `url of httpEffect() is ${String(url)}.` })
  for (const [name, value] of Object.entries({ body, result, fetch }))
    if (value !== undefined) checkFunction(value, `${name} of httpEffect()`)
  if (refused !== '4xx' && !Array.isArray(refused))
    throw new JustonceError('OPTION_INVALID', { message: `refused of httpEffect() is neither a list nor '4xx'.` })
}

async function request<Payload, Result>(
  options: HttpEffectOptions<Payload, Result>,
  intent: Intent<Payload>,
  { idempotencyKey, signal, assertInTime }: EffectContext,
): Promise<Result> {
  const { later = [429], refused = [], timeoutMs = defaultTimeoutMs } = options
  const asked = requestOf(options, intent, idempotencyKey)
  const what = `${asked.method} ${withoutQuery(asked.url)}`
  const begunAt = performance.now()
  let response: Response
  assertInTime()
  try {
    response = await (options.fetch ?? fetch)(asked, { signal })
  } catch (cause) {
    if (provesNothingSent(cause)) throw new DidNotHappen(`${what} reached nobody.`, { cause })
    throw cause
  }
  const { status } = response
  // What it means is known by its status: its body must not take so long that the call counts as unknown.
  const withinMs = Math.max(0, timeoutMs - (performance.now() - begunAt)) / 2
  if (response.ok) return await resultOf(options, response, withinMs)
  const { text } = await readAnswer(response, { mostBytes: longestShown, withinMs })
  const said = `${what} answered ${status}: ${text}`
  if (later.includes(status)) throw new DidNotHappen(said, { ...delayIn(response) })
  const isRefused = refused === '4xx' ? status >= 400 && status < 500 && status !== 408 : refused.includes(status)
  // All calls get this answer, until somebody has put the credentials right.
  if (status === 401 && refused === '4xx') throw new DidNotHappen(said)
  if (isRefused) throw new DidNotHappen(said, { permanent: true })
  throw new Error(said)
}

/** Errors are read by many, and a query may hold a secret. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** Built before anything is sent, so that a mistake in it is certain to have changed nothing. */
function requestOf<Payload, Result>(
  {
    url,
    method = 'POST',
    headers = {},
    body,
    keyHeader = 'Idempotency-Key',
    keyed,
  }: HttpEffectOptions<Payload, Result>,
  intent: Intent<Payload>,
  idempotencyKey: string,
): Request {
  try {
    const content = body === undefined ? intent.payload : body(intent)
    const sent = new Headers(typeof headers === 'function' ? headers(intent) : headers)
    sent.set(keyHeader, idempotencyKey)
    // A kept connection that the other side has just closed looks like a lost answer, and that would need a person.
    if (!keyed && !sent.has('connection')) sent.set('connection', 'close')
    const hasBody = content !== undefined && method !== 'GET' && method !== 'HEAD'
    if (hasBody && typeof content !== 'string' && !sent.has('content-type'))
      sent.set('content-type', 'application/json')
    const address = new URL(typeof url === 'function' ? url(intent) : url)
    // fetch() answers data: itself, as if somebody had been called.
    if (!/^https?:$/.test(address.protocol)) throw new Error(`${address.protocol} is neither http: nor https:`)
    return new Request(address, {
      method,
      headers: sent,
      // A redirected POST becomes a GET, and nobody knows what the first address has done.
      redirect: 'manual',
      ...(hasBody && { body: typeof content === 'string' ? content : JSON.stringify(content) }),
    })
  } catch (cause) {
    throw new DidNotHappen('The request of an effect cannot be built.', { cause, permanent: true })
  }
}

/** It has happened, whatever becomes of the rest of the answer. */
async function resultOf<Payload, Result>(
  { result }: HttpEffectOptions<Payload, Result>,
  response: Response,
  withinMs: number,
): Promise<Result> {
  const { status } = response
  const nothing = { status } as Result
  if (result !== undefined) {
    const kept = await withinTime(resultBy(result, response), withinMs)
    return kept === undefined ? nothing : kept.value
  }
  const { text, isWhole } = await readAnswer(response, { mostBytes: longestBody, withinMs })
  if (text === '' || !isWhole) return nothing
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  try {
    return { status, body: isJson ? JSON.parse(text) : text } as Result
  } catch {
    return nothing
  }
}

async function resultBy<Result>(
  result: (response: Response) => Promise<Result> | Result,
  response: Response,
): Promise<{ readonly value: Result }> {
  return { value: await result(response) }
}

function delayIn(response: Response): { readonly delayMs?: number } {
  const value = response.headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms >= 0 ? { delayMs: Math.min(ms, longestDelayMs) } : {}
}
