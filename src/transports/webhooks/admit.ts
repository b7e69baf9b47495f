import type { IncomingMessage } from '../../contracts/index.ts'
import type { Refusal } from './answers.ts'
import { describeCloudEvent, structuredIn } from './cloud-event-request.ts'
import { readBody } from './read-body.ts'
import type { Described, Verdict, VerifyRequest } from './signature-scheme.ts'
import { unlessAborted } from './unless-aborted.ts'
import type { Receiving } from './webhook-options.ts'
import { type WebhookRequest, webhookRequest } from './webhook-request.ts'

export type Admission = { readonly message: IncomingMessage } | { readonly refusal: Refusal }

/** Turns a genuine request into a message. The signal ends the wait for a body that does not arrive. */
export async function admit(request: Request, options: Receiving, signal: AbortSignal): Promise<Admission> {
  const { pathname } = new URL(request.url)
  if (options.path !== undefined && pathname !== options.path) return refused(404, 'wrong-path')
  if (request.method !== 'POST') return refused(405, 'wrong-method')
  // If someone else has begun to read the body, the rest of it is not what was sent.
  if (request.bodyUsed || request.body?.locked === true) return refused(500, 'body-read-before')
  const body = await readBody(request, options.maxBodyBytes, signal)
  if (body === 'too-large') return refused(413, 'body-too-large')
  if (body === 'cut-off') return refused(408, 'body-incomplete')
  const read = webhookRequest({
    headers: Object.fromEntries(request.headers),
    body,
    path: pathname,
    now: options.clock.now(),
  })
  const refusal = await checkSignature(read, options, signal)
  return refusal === undefined ? toMessage(read, options) : { refusal }
}

async function checkSignature(
  request: WebhookRequest,
  { verify }: Receiving,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  try {
    const asking = typeof verify === 'function' ? ask(verify, request) : verify.verify(request)
    const verdict = await unlessAborted(asking, signal)
    if (verdict === 'genuine') return undefined
    return { status: 401, reason: verdict === 'stale' ? 'signature-too-old' : 'signature-wrong' }
  } catch (error) {
    return { status: 503, reason: 'cannot-verify', error }
  }
}

async function ask(verify: VerifyRequest, { headers, body }: WebhookRequest): Promise<Verdict> {
  return (await verify(headers, body)) === true ? 'genuine' : 'forged'
}

function toMessage(request: WebhookRequest, options: Receiving): Admission {
  const { verify, identify, type, source } = options
  try {
    // Only the scheme is trusted: a header that its signature does not cover must not give a duplicate another id.
    const structured = typeof verify === 'function' ? structuredIn(request) : undefined
    const described: Described =
      typeof verify === 'function' ? (structured ?? describeCloudEvent(request)) : verify.describe(request)
    const id = identify === undefined ? described.id : identify(request)
    if (typeof id !== 'string' || id === '') return refused(400, 'no-id')
    const given = typeof type === 'function' ? type(request) : type
    const headers = options.keepHeaders(structured?.headers ?? request.headers)
    const body = structured?.body ?? request.body
    return { message: { ...described, id, type: given ?? described.type, body, headers, source } }
  } catch (error) {
    return { refusal: { status: 500, reason: 'cannot-identify', error } }
  }
}

function refused(status: Refusal['status'], reason: Refusal['reason']): Admission {
  return { refusal: { status, reason } }
}
