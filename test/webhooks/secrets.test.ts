import { expect, test } from 'vitest'
import { githubSignature, standardWebhooks, stripeSignature } from '../../src/transports/webhooks/index.ts'
import { webhookRequest } from '../../src/transports/webhooks/webhook-request.ts'
import { openHooks } from './open-hooks.ts'
import { hmac, nowSeconds, stripeEvent, stripeHeaders } from './signing.ts'

const base64 = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64')

test.for([
  ['one character, which decodes to nothing', 'whsec_A'],
  ['nothing behind the prefix', 'whsec_'],
  ['less than 16 bytes', `whsec_${base64(15)}`],
  ['base64 that was cut', `whsec_${base64(24).slice(0, -3)}`],
  ['base64 with bits that no encoder writes', `whsec_${base64(23).replace(/.=$/, 'd=')}`],
  ['padding that does not belong there', `whsec_${base64(24)}=`],
  ['another alphabet', `whsec_${'-_'.repeat(16)}`],
  ['white space at the end', `whsec_${base64(24)}\n`],
])('a secret of standardWebhooks() that is %s is refused', ([, secret = '']) => {
  expect(() => standardWebhooks({ secret })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  // One good one beside it does not help: any of them would be enough for a forger.
  expect(() => standardWebhooks({ secret: [`whsec_${base64(24)}`, secret] })).toThrow(/secret/)
})

test.for(['whsec_A', 'zq', 'fifteen letters', ' sixteen letters and more', 'sixteen letters and more\n'])(
  'the secret %j is refused by the others, too, and never shown',
  (secret) => {
    for (const scheme of [stripeSignature, githubSignature]) {
      expect(() => scheme({ secret })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
      expect(() => scheme({ secret })).not.toThrow(secret)
    }
  },
)

test('16 bytes are enough, with padding or without', () => {
  for (const bytes of [16, 17, 18, 24])
    for (const secret of [base64(bytes), base64(bytes).replaceAll('=', ''), `whsec_${base64(bytes)}`])
      expect(standardWebhooks({ secret }).name).toBe('standard-webhooks')
  expect(githubSignature({ secret: 'x'.repeat(16) }).name).toBe('github')
})

test.for([
  ['msg_2.KJ', 'genuine'],
  ['a.b.c', 'genuine'],
  ['v1.2', 'genuine'],
  // Could be the id `a` at that time, and a body that begins with digits and a dot.
  ['a.1614265330', 'forged'],
  ['a.1614265330.x', 'forged'],
])('an id with a dot, %s, is %s', ([id = '', verdict]) => {
  const key = Buffer.alloc(24, 7)
  const scheme = standardWebhooks({ secret: `whsec_${key.toString('base64')}` })
  const timestamp = String(nowSeconds())
  const body = Buffer.from('{}')
  const signature = hmac(key, `${id}.${timestamp}.`, body).toString('base64')
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  const request = webhookRequest({ headers, body, path: '/', now: new Date() })
  expect(scheme.verify(request)).toBe(verdict)
})

test('what a signature covers cannot be read in a second way', () => {
  const key = Buffer.alloc(24, 7)
  const scheme = standardWebhooks({ secret: `whsec_${key.toString('base64')}` })
  const [then, now] = [nowSeconds() - 60, nowSeconds()]
  // Genuine: the id `a`, then, and a body that begins with a number.
  const signature = hmac(key, `a.${then}.${now}.5`).toString('base64')
  const headers = {
    'webhook-id': `a.${then}`,
    'webhook-timestamp': String(now),
    'webhook-signature': `v1,${signature}`,
  }
  expect(scheme.verify(webhookRequest({ headers, body: Buffer.from('5'), path: '/', now: new Date() }))).toBe('forged')
})

const secrets = {
  authorization: 'Bearer s3cret',
  cookie: 'session=s3cret',
  'x-gitlab-token': 's3cret',
  'x-api-key': 's3cret',
  'x-shopify-hmac-sha256': 's3cret',
  'webhook-signature': 'v1,s3cret',
  'x-client-secret': 's3cret',
}

async function headersOfLetter(options: Parameters<typeof openHooks>[0], sent: Record<string, string>) {
  const { app, url, store } = await openHooks(options)
  app.on('charge.succeeded', { name: 'charge', retry: { attempts: 1 } }, () => {
    throw new Error('no')
  })
  await app.start()
  const body = stripeEvent('evt_1')
  await fetch(url, { method: 'POST', body, headers: { ...stripeHeaders(body), ...sent } })
  const [letter] = await app.operations.letters.list()
  const [row] = await store.parking.list()
  return { headers: letter?.headers ?? {}, stored: Buffer.from(row?.message.envelope ?? []).toString() }
}

test('signatures and secrets do not stay in dead letters', async () => {
  const { headers, stored } = await headersOfLetter({}, { ...secrets, 'x-plain': 'value', 'x-request-id': 'r1' })
  expect(headers).toMatchObject({ 'x-plain': 'value', 'x-request-id': 'r1' })
  expect(stored).not.toContain('s3cret')
  expect(Object.keys(headers)).not.toContain('stripe-signature')
})

test('which headers are left out, masked or kept can be said', async () => {
  const { headers, stored } = await headersOfLetter(
    { headers: { keep: ['X-Api-Key'], mask: ['x-customer', 'x-gitlab-token'], leaveOut: ['x-plain'] } },
    { ...secrets, 'x-api-key': 'kept', 'x-customer': 's3cret', 'x-plain': 's3cret' },
  )
  expect(headers).toMatchObject({ 'x-api-key': 'kept', 'x-customer': '***', 'x-gitlab-token': '***' })
  expect(stored).not.toContain('s3cret')
})

test.for([
  [{ headers: { hide: [] } }, 'has no option'],
  [{ headers: { mask: 'x-a' } }, 'mask'],
  [{ headers: { keep: [7] } }, 'keep'],
  [{ headers: 'x-a' }, 'headers'],
] as const)('%j is refused', async ([options, message]) => {
  await expect(openHooks(options as never)).rejects.toThrow(message)
})
