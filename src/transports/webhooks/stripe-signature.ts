import { checkOptions } from '../../errors/index.ts'
import { hexSignature, isSigned, keysIn, mostSignatures, type Secrets } from './hmac.ts'
import type { SignatureScheme } from './signature-scheme.ts'
import { checkTolerance, isFresh, secondsIn } from './timestamps.ts'
import { property, textIn } from './webhook-request.ts'

/** What `stripeSignature()` takes. */
export interface StripeSignatureOptions {
  /** The endpoint's signing secret, `whsec_…`, or several while it is being rotated. */
  readonly secret: Secrets
  /** How old a signature may be. Stripe creates a new one for each attempt. Default: five minutes. */
  readonly toleranceMs?: number
}

/** Stripe retries for three days. Its dashboard and command line can resend an event for as long as Stripe keeps it. */
const thirtyDaysMs = 30 * 86_400_000

/** Stripe: `Stripe-Signature: t=…,v1=…`. The event's id, type and time are read from the signed body. */
export function stripeSignature(options: StripeSignatureOptions): SignatureScheme {
  checkOptions(options, ['secret', 'toleranceMs'], 'stripeSignature()')
  const keys = keysIn(options.secret, 'stripeSignature()')
  const toleranceMs = checkTolerance(options.toleranceMs)
  return {
    name: 'stripe',
    redeliversForMs: thirtyDaysMs,
    verify({ headers, body, now }) {
      const { timestamp, signatures } = parseHeader(headers['stripe-signature'] ?? '')
      const seconds = secondsIn(timestamp)
      if (seconds === undefined || !isSigned([`${timestamp}.`, body], keys, signatures)) return 'forged'
      return isFresh(seconds, now, toleranceMs) ? 'genuine' : 'stale'
    },
    describe(request) {
      const event = request.json()
      return {
        id: textIn(property(event, 'id')),
        type: textIn(property(event, 'type')),
        sentAt: timeOf(property(event, 'created')),
      }
    },
  }
}

/** Only `v1` counts: accepting other schemes would let an attacker choose a weaker one. */
function parseHeader(header: string): { timestamp: string | undefined; signatures: Uint8Array[] } {
  const pairs = header.split(',', mostSignatures).map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  })
  const timestamps = pairs.filter(([name]) => name === 't').map(([, value]) => value)
  return {
    // With two timestamps, it would be unclear which one was checked.
    timestamp: timestamps.length === 1 ? timestamps[0] : undefined,
    signatures: pairs.flatMap(([name, value]) => (name === 'v1' ? (hexSignature(value) ?? []) : [])),
  }
}

/** Events of the v1 API have seconds, those of v2 a string. */
function timeOf(created: unknown): Date | undefined {
  const date =
    typeof created === 'number'
      ? new Date(created * 1_000)
      : typeof created === 'string'
        ? new Date(created)
        : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
