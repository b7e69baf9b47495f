import { checkOptions } from '../../errors/index.ts'
import { isSigned, keysIn, mostSignatures, type Secrets } from './hmac.ts'
import type { SignatureScheme } from './signature-scheme.ts'
import { checkTolerance, isFresh, secondsIn } from './timestamps.ts'
import { property, textIn } from './webhook-request.ts'

/** What `standardWebhooks()` takes. */
export interface StandardWebhooksOptions {
  /** `whsec_` and the key in base64, or several while it is being rotated. */
  readonly secret: Secrets
  /** How old a signature may be. Default: five minutes. */
  readonly toleranceMs?: number
}

/**
 * The signature covers `id.time.body`. If the id contained a time between dots, there would be a second reading with a shorter
 * id and a longer body: a duplicate under another id.
 */
const hasTime = /\.\d{10,12}(?:\.|$)/

/**
 * Standard Webhooks 1.0, as many services send them: `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,…`. The id
 * and the time are signed with the body. The type is the `type` of the body.
 */
export function standardWebhooks(options: StandardWebhooksOptions): SignatureScheme {
  checkOptions(options, ['secret', 'toleranceMs'], 'standardWebhooks()')
  const keys = keysIn(options.secret, 'standardWebhooks()', keyIn)
  const toleranceMs = checkTolerance(options.toleranceMs)
  return {
    name: 'standard-webhooks',
    verify({ headers, body, now }) {
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': header = '' } = headers
      const seconds = secondsIn(timestamp)
      if (id === undefined || hasTime.test(id) || seconds === undefined) return 'forged'
      if (!isSigned([`${id}.${timestamp}.`, body], keys, signaturesIn(header))) return 'forged'
      return isFresh(seconds, now, toleranceMs) ? 'genuine' : 'stale'
    },
    describe(request) {
      const seconds = secondsIn(request.headers['webhook-timestamp'])
      return {
        id: textIn(request.headers['webhook-id']),
        type: textIn(property(request.json(), 'type')),
        sentAt: seconds === undefined ? undefined : new Date(seconds * 1_000),
      }
    },
  }
}

function signaturesIn(header: string): Uint8Array[] {
  return header
    .split(' ', mostSignatures)
    .flatMap((each) => (each.startsWith('v1,') ? [Buffer.from(each.slice(3), 'base64')] : []))
}

/** `undefined` if it is not valid base64. Decoders skip unknown characters and could return an empty key. */
function keyIn(secret: string): Uint8Array | undefined {
  const base64 = secret.replace(/^whsec_/, '')
  const key = Buffer.from(base64, 'base64')
  const written = key.toString('base64')
  return base64 === written || base64 === written.replaceAll('=', '') ? key : undefined
}
