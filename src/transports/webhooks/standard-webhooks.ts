import { checkOptions, JustonceError } from '../../errors/index.ts'
import { isSigned, mostSignatures, type Secrets, secretsIn } from './hmac.ts'
import type { SignatureScheme } from './signature-scheme.ts'
import { checkTolerance, isFresh, secondsIn } from './timestamps.ts'
import { property, textIn } from './webhook-request.ts'

export interface StandardWebhooksOptions {
  /** `whsec_` and the key in base64; several while it is being rotated. */
  readonly secret: Secrets
  /** How old a signature may be. Default five minutes. */
  readonly toleranceMs?: number
}

/**
 * Standard Webhooks 1.0, as many services send them: `webhook-id`, `webhook-timestamp` and `webhook-signature: v1,…`.
 * Id and time are signed with the body; the type is the body's `type`.
 */
export function standardWebhooks(options: StandardWebhooksOptions): SignatureScheme {
  checkOptions(options, ['secret', 'toleranceMs'], 'standardWebhooks()')
  const keys = secretsIn(options.secret, 'standardWebhooks()').map(keyIn)
  const toleranceMs = checkTolerance(options.toleranceMs)
  return {
    name: 'standard-webhooks',
    verify({ headers, body, now }) {
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': header = '' } = headers
      const seconds = secondsIn(timestamp)
      // With a dot in the id the signed text could be read in two ways.
      if (id === undefined || id.includes('.') || seconds === undefined) return 'forged'
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

function keyIn(secret: string): Uint8Array {
  const base64 = secret.replace(/^whsec_/, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw new JustonceError('OPTION_INVALID', { message: 'The secret of standardWebhooks() is not base64.' })
  return Buffer.from(base64, 'base64')
}
