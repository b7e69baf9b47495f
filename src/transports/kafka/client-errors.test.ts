import { expect, test } from 'vitest'
import { asSetupError, messageOf, says, unreachable } from './client-errors.ts'

const said = (message: string, properties: object = {}) => Object.assign(new Error(message), properties)
const nested = (error: Error) => new AggregateError([new AggregateError([error], 'inner')], 'joinGroup failed 3 times.')

test('finds what one of many nested errors says', () => {
  const error = nested(said('Not now', { apiId: 'REBALANCE_IN_PROGRESS' }))
  expect(says(error, 'apiId', 'REBALANCE_IN_PROGRESS')).toBe(true)
  expect(says(error, 'apiId', 'UNKNOWN_MEMBER_ID')).toBe(false)
  expect(says('no error', 'apiId', 'UNKNOWN_MEMBER_ID')).toBe(false)
})

test.each([
  ['a missing topic', said('Unknown topic notes.'), 'Unknown topic notes at host:1'],
  ['an old broker', said('Unsupported API Fetch.', { code: 'PLT_KFK_UNSUPPORTED_API' }), 'too old'],
  ['a version that is not there', said('Bad version', { apiId: 'UNSUPPORTED_VERSION' }), 'too old'],
  ['a wrong timeout', said('Too short', { apiId: 'INVALID_SESSION_TIMEOUT' }), 'this setup'],
  ['a compression', said('Unsupported lz4', { code: 'PLT_KFK_UNSUPPORTED_COMPRESSION' }), 'lz4'],
])('%s is a matter of the setup', (_, error, text) => {
  expect(asSetupError(nested(error), 'host:1')).toMatchObject({
    code: 'BROKER_SETUP',
    message: expect.stringContaining(text),
  })
})

test.each([
  ['missing rights', 'GROUP_AUTHORIZATION_FAILED'],
  ['a wrong password', 'SASL_AUTHENTICATION_FAILED'],
])('%s: the broker refuses us', (_, apiId) => {
  expect(asSetupError(nested(said('Not authorized', { apiId })), 'host:1')).toMatchObject({
    code: 'BROKER_REFUSED',
    message: expect.stringContaining('does not allow'),
  })
})

test('a lost connection is no matter of the setup', () => {
  expect(asSetupError(said('Connection lost', { code: 'PLT_KFK_NETWORK' }), 'host:1')).toBeUndefined()
})

test('who does not answer is unreachable, and the deepest error says why', () => {
  const error = nested(said('connect ECONNREFUSED 127.0.0.1:1'))
  expect(messageOf(error)).toBe('connect ECONNREFUSED 127.0.0.1:1.')
  expect(unreachable(error, 'host:1')).toMatchObject({
    code: 'BROKER_UNREACHABLE',
    message: expect.stringContaining('host:1: connect ECONNREFUSED'),
  })
})
