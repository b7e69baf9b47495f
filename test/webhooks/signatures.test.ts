import { describe, expect, test } from 'vitest'
import {
  githubSignature,
  type SignatureScheme,
  standardWebhooks,
  stripeSignature,
} from '../../src/transports/webhooks/index.ts'
import { webhookRequest } from '../../src/transports/webhooks/webhook-request.ts'
import { hmac } from './signing.ts'

interface Sent {
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
  readonly now?: Date
}

function requestOf({ headers, body, now = new Date() }: Sent) {
  return webhookRequest({ headers, body: Buffer.from(body), path: '/', now })
}

const verdictOf = async (scheme: SignatureScheme, sent: Sent) => scheme.verify(requestOf(sent))

describe('github', () => {
  // The example of GitHub's page "Validating webhook deliveries".
  const scheme = githubSignature({ secret: "It's a Secret to Everybody" })
  const body = 'Hello, World!'
  const hex = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const signed = { 'x-hub-signature-256': `sha256=${hex}` }

  test('the published example is genuine', async () => {
    expect(await verdictOf(scheme, { headers: signed, body })).toBe('genuine')
  })

  test.for<[string, Sent]>([
    ['another body', { headers: signed, body: 'Hello, World?' }],
    ['no header', { headers: {}, body }],
    ['an empty signature', { headers: { 'x-hub-signature-256': 'sha256=' }, body }],
    ['a part of the signature', { headers: { 'x-hub-signature-256': `sha256=${hex.slice(0, 62)}` }, body }],
    ['a longer signature', { headers: { 'x-hub-signature-256': `sha256=${hex}00` }, body }],
    ['two headers in one', { headers: { 'x-hub-signature-256': `sha256=${hex}, sha256=${hex}` }, body }],
    // A check that takes it for the id would take a replay for a new message.
    ['the signature in another spelling', { headers: { 'x-hub-signature-256': `sha256=${hex.toUpperCase()}` }, body }],
    ['the old header alone', { headers: { 'x-hub-signature': `sha256=${hex}` }, body }],
    ['another scheme name', { headers: { 'x-hub-signature-256': `sha1=${hex}` }, body }],
  ])('%s is forged', async ([, sent]) => {
    expect(await verdictOf(scheme, sent)).toBe('forged')
  })

  test('any of several secrets will do, and none other', async () => {
    const rotating = githubSignature({ secret: ['a new one of enough length', "It's a Secret to Everybody"] })
    expect(await verdictOf(rotating, { headers: signed, body })).toBe('genuine')
    expect(
      await verdictOf(githubSignature({ secret: ['a new one of enough length', 'another of enough length'] }), {
        headers: signed,
        body,
      }),
    ).toBe('forged')
  })
})

describe('stripe', () => {
  // Computed with `openssl dgst -sha256 -hmac whsec_test_secret`.
  const body = '{"id":"evt_1","type":"charge.succeeded","created":1492774570}'
  const hex = 'b31f2f4781cbbe7c4729c516d0f0277315c24cdffe5fc9dea81b02035d654978'
  const scheme = stripeSignature({ secret: 'whsec_test_secret' })
  const now = new Date(1_492_774_577_000)
  const sent = (signature: string, at = now): Sent => ({ headers: { 'stripe-signature': signature }, body, now: at })

  test('what another implementation has signed is genuine', async () => {
    expect(await verdictOf(scheme, sent(`t=1492774577,v1=${hex}`))).toBe('genuine')
  })

  test('while a secret is rolled the header has several signatures, one of which is enough', async () => {
    const other = hmac('whsec_old', `1492774577.${body}`).toString('hex')
    expect(await verdictOf(scheme, sent(`t=1492774577,v1=${other},v1=${hex},v0=${other}`))).toBe('genuine')
    const rotating = stripeSignature({ secret: ['whsec_the_next_one', 'whsec_test_secret'] })
    expect(await verdictOf(rotating, sent(`t=1492774577,v1=${hex}`))).toBe('genuine')
  })

  test.for([
    ['nothing', ''],
    ['a signature without a time', `v1=${hex}`],
    ['another time', `t=1492774578,v1=${hex}`],
    ['two times', `t=1492774577,t=1492774578,v1=${hex}`],
    ['a time that is no number', `t=1492774577abc,v1=${hex}`],
    ['the weaker scheme alone', `t=1492774577,v0=${hex}`],
    ['more signatures than anyone sends', `t=1492774577,${'v1=00,'.repeat(30)}v1=${hex}`],
  ])('%s is forged', async ([, signature = '']) => {
    expect(await verdictOf(scheme, sent(signature))).toBe('forged')
  })

  test('outside of the window it is stale, in both directions, by the clock that it is given', async () => {
    const signature = `t=1492774577,v1=${hex}`
    const at = (seconds: number) => verdictOf(scheme, sent(signature, new Date((1_492_774_577 + seconds) * 1_000)))
    expect(await Promise.all([at(300), at(-300)])).toEqual(['genuine', 'genuine'])
    expect(await Promise.all([at(301), at(-301)])).toEqual(['stale', 'stale'])
    const strict = stripeSignature({ secret: 'whsec_test_secret', toleranceMs: 1_000 })
    expect(await verdictOf(strict, sent(signature, new Date(1_492_774_579_000)))).toBe('stale')
  })

  test('id, type and time come from the body', () => {
    const { id, type, sentAt } = scheme.describe(requestOf(sent('')))
    expect([id, type, sentAt?.getTime()]).toEqual(['evt_1', 'charge.succeeded', 1_492_774_570_000])
    expect(scheme.describe(requestOf({ headers: { 'ce-id': 'x' }, body: 'no JSON' })).id).toBeUndefined()
    expect(scheme.describe(requestOf({ headers: {}, body: '{"__proto__":{"id":"x"}}' })).id).toBeUndefined()
  })
})

describe('standard webhooks', () => {
  // The example that the libraries of the specification are tested with.
  const scheme = standardWebhooks({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
  const body = '{"test": 2432232314}'
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const now = new Date(1_614_265_330_000)

  test('the published example is genuine, also beside other signatures', async () => {
    expect(await verdictOf(scheme, { headers, body, now })).toBe('genuine')
    const several = { ...headers, 'webhook-signature': `v1,AAAA v2,xyz ${headers['webhook-signature']}` }
    expect(await verdictOf(scheme, { headers: several, body, now })).toBe('genuine')
  })

  test('another id, time or body is forged, and a late one is stale', async () => {
    const changed = (changes: Record<string, string>) =>
      verdictOf(scheme, { headers: { ...headers, ...changes }, body, now })
    expect(await changed({ 'webhook-id': 'msg_other' })).toBe('forged')
    expect(await changed({ 'webhook-timestamp': '1614265331' })).toBe('forged')
    expect(await changed({ 'webhook-signature': 'v1,' })).toBe('forged')
    expect(await verdictOf(scheme, { headers, body: `${body} `, now })).toBe('forged')
    expect(await verdictOf(scheme, { headers, body, now: new Date(now.getTime() + 301_000) })).toBe('stale')
  })
})

test('a secret that is missing or empty is refused, and never shown', () => {
  expect(() => stripeSignature({ secret: '' })).toThrow('needs a secret that is not empty')
  expect(() => githubSignature({ secret: [] })).toThrow('needs a secret')
  expect(() => githubSignature({ secret: ['fine', ''] })).toThrow(/^(?!.*fine)/)
  expect(() => standardWebhooks({ secret: 'whsec_not base64' })).toThrow('needs a secret that is base64')
  expect(() => stripeSignature({ secret: 'whsec_test_secret', tolerance: 1 } as never)).toThrow(
    'Did you mean toleranceMs?',
  )
})
