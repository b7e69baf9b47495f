import { checkOptions } from '../../errors/index.ts'
import { hexSignature, isSigned, keysIn, mostSignatures, type Secrets } from './hmac.ts'
import type { SignatureScheme } from './signature-scheme.ts'
import { checkTolerance, isFresh, secondsIn } from './timestamps.ts'
import { property, textIn } from './webhook-request.ts'

export interface StripeSignatureOptions {
  /** The endpoint's signing secret, `whsec_…`; several while it is being rolled. */
  readonly secret: Secrets
  /** How old a signature may be; Stripe makes a new one for each attempt. Default five minutes. */
  readonly toleranceMs?: number
}

/** By itself for three days; anyone with its dashboard or its command line, for as long as it keeps events. */
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

/** Only `v1` counts: accepting another scheme would let an attacker choose the weaker one. */
function parseHeader(header: string): { timestamp: string | undefined; signatures: Uint8Array[] } {
  const pairs = header.split(',', mostSignatures).map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  })
  const timestamps = pairs.filter(([name]) => name === 't').map(([, value]) => value)
  return {
    // Two of them would leave it open which one was checked.
    timestamp: timestamps.length === 1 ? timestamps[0] : undefined,
    signatures: pairs.flatMap(([name, value]) => (name === 'v1' ? (hexSignature(value) ?? []) : [])),
  }
}

/** Seconds in events of the first API, a text in those of the second. */
function timeOf(created: unknown): Date | undefined {
  const date =
    typeof created === 'number'
      ? new Date(created * 1_000)
      : typeof created === 'string'
        ? new Date(created)
        : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
