import { expect, test } from 'vitest'
import { stripeSignature, webhookIntake, webhookTransport } from '../../src/transports/webhooks/index.ts'

const verify = stripeSignature({ secret: 'whsec_test_secret' })

test('it says honestly what it can do', async () => {
  const { name, capabilities } = webhookTransport({ verify })
  expect(name).toBe('webhooks:stripe')
  expect(capabilities).toEqual({
    order: 'none',
    deliveryCount: 'none',
  })
  expect(await webhookTransport({ verify }).redeliversForMs?.()).toBe(30 * 86_400_000)
  expect(await webhookTransport({ verify, redeliversForMs: 5 }).redeliversForMs?.()).toBe(5)
  const own = webhookTransport({ verify: () => true, path: '/in' })
  expect([own.name, await own.redeliversForMs?.()]).toEqual(['webhooks:/in', undefined])
})

test.for([
  [{ verify, secrets: [] }, 'has no option'],
  [{}, 'verify is undefined, not a function'],
  [{ verify: {} }, 'verify.verify is undefined'],
  [{ verify, path: 'hooks' }, 'must begin with /'],
  [{ verify, maxBodyBytes: 0 }, 'maxBodyBytes is 0'],
  [{ verify, answerWithinMs: Number.NaN }, 'answerWithinMs is NaN'],
  [{ verify, maxInFlight: 0 }, 'maxInFlight is 0'],
  [{ verify, identify: 'id' }, 'identify is "id"'],
  [{ verify, type: 1 }, 'type is 1'],
] as const)('%j is refused', ([options, message]) => {
  expect(() => webhookTransport(options as never)).toThrow(message)
})

test('an intake needs somewhere to put things', () => {
  expect(() => webhookIntake({ verify } as never)).toThrow('into.publish is undefined')
})
