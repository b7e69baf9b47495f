import { createHmac } from 'node:crypto'

export const secret = 'whsec_test_secret'

export function hmac(key: string | Uint8Array, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHmac('sha256', key)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}

/** The headers that Stripe sends with a body. */
export function stripeHeaders(body: string | Uint8Array, seconds = nowSeconds(), key = secret): Record<string, string> {
  return { 'stripe-signature': `t=${seconds},v1=${hmac(key, `${seconds}.`, body).toString('hex')}` }
}

/** An event as Stripe writes it. */
export function stripeEvent(id: string, changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ id, object: 'event', type: 'charge.succeeded', created: 1_700_000_000, ...changes })
}
