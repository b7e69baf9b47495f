import { describe, expect, test } from 'vitest'
import { JustonceError } from '../../errors/index.ts'
import { classify, explained, isLostConnection } from './errors.ts'

const fromServer = (code: string, message = 'said the server', severity = 'ERROR') =>
  Object.assign(new Error(message), { code, severity })
const fromNode = (code: string) => Object.assign(new Error(`connect ${code}`), { code })

describe('classify', () => {
  test.each(['40P01', '40001', '55P03', '57014'])('%s is a conflict', (code) => {
    expect(classify(fromServer(code))).toBe('conflict')
  })

  test.each([
    '08006',
    '08P01',
    '53100',
    '53300',
    '57P01',
    '57P02',
    '57P03',
    '57P05',
    '58030',
    '25P03',
    '25P04',
    '25006',
  ])('%s is unavailable', (code) => {
    expect(classify(fromServer(code))).toBe('unavailable')
  })

  test.each(['23505', '23503', '42601', '42P01', '22P02', '25P02', '53400', 'P0001', '28P01'])('%s is none', (code) => {
    expect(classify(fromServer(code))).toBe('none')
  })

  test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT'])(
    '%s is unavailable',
    (code) => {
      expect(classify(fromNode(code))).toBe('unavailable')
    },
  )

  test.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('what pg says without a code, %j, is unavailable', (message) => {
    expect(classify(new Error(message))).toBe('unavailable')
  })

  test('a code that only looks like one of the server is none', () => {
    expect(classify(fromNode('40001'))).toBe('none')
    expect(classify(new Error('my Connection terminated'))).toBe('none')
  })

  test('our own errors', () => {
    const own = (code: ConstructorParameters<typeof JustonceError>[0]) =>
      classify(new JustonceError(code, { message: '' }))
    expect([own('STORE_BUSY'), own('ISOLATION_TOO_STRICT')]).toEqual(['conflict', 'conflict'])
    expect([own('STORE_CLOSED'), own('STORE_FULL'), own('COMMIT_UNKNOWN')]).toEqual(Array(3).fill('unavailable'))
    expect([own('TX_ABORTED'), own('TX_ENDED'), own('COMMIT_ROLLED_BACK'), own('SCHEMA_MISSING')]).toEqual(
      Array(4).fill('none'),
    )
  })
})

describe('explained', () => {
  test.each([
    ['42P01', 'SCHEMA_MISSING'],
    ['3F000', 'SCHEMA_MISSING'],
    ['42703', 'SCHEMA_OLD'],
    ['53100', 'STORE_FULL'],
    ['26000', 'STATEMENT_LOST'],
    ['42P05', 'STATEMENT_LOST'],
    ['42501', 'STORE_DENIED'],
  ])('%s becomes %s, and keeps its cause', (state, code) => {
    const cause = fromServer(state)
    expect(explained(cause)).toMatchObject({ code, cause })
  })

  test('the end of a pool becomes STORE_CLOSED', () => {
    expect(explained(new Error('Cannot use a pool after calling end on the pool'))).toMatchObject({
      code: 'STORE_CLOSED',
    })
    expect(explained(fromNode('CONNECTION_ENDED'))).toMatchObject({ code: 'STORE_CLOSED' })
  })

  test('anything else stays what it is', () => {
    for (const error of [fromServer('23505'), new Error('no'), 'no', undefined]) expect(explained(error)).toBe(error)
  })
})

test('an answer of the server that says goodbye is a lost connection, a refusal is not', () => {
  expect(isLostConnection(fromServer('57P01'))).toBe(true)
  expect(isLostConnection(fromServer('08006'))).toBe(true)
  expect(isLostConnection(fromServer('25P04'))).toBe(true)
  expect(isLostConnection(fromServer('23505'))).toBe(false)
  expect(isLostConnection(fromServer('53300'))).toBe(false)
})

test.each(['FATAL', 'PANIC'])('%s ends the session, whatever the code', (severity) => {
  expect(isLostConnection(fromServer('XX000', 'said the server', severity))).toBe(true)
})
