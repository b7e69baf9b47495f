import { expect, test } from 'vitest'
import { JustonceError, PermanentError } from '../../errors/index.ts'
import type { RetryPolicy } from '../handler.ts'
import { judge } from './failure-policy.ts'

const retry: RetryPolicy = {
  attempts: 3,
  backoff: (attempt, _, random) => attempt * 1_000 + random,
  classify: undefined,
}

test('it waits for its next attempt as long as it has one, then it is dead', () => {
  const error = new Error('x')
  expect(judge(error, retry, 0, 0.5)).toEqual({
    state: 'waiting',
    reason: 'HANDLER_FAILED',
    attempts: 1,
    delayMs: 1_000.5,
  })
  expect(judge(error, retry, 1, 0.5)).toMatchObject({ state: 'waiting', attempts: 2, delayMs: 2_000.5 })
  expect(judge(error, retry, 2, 0.5)).toEqual({ state: 'dead', reason: 'HANDLER_FAILED', attempts: 3, delayMs: 0 })
})

test('with one attempt it is dead at once', () => {
  expect(judge(new Error('x'), { ...retry, attempts: 1 }, 0, 0)).toMatchObject({ state: 'dead', attempts: 1 })
})

test('a PermanentError ends it at once', () => {
  expect(judge(new PermanentError('x'), retry, 0, 0)).toMatchObject({ state: 'dead', reason: 'HANDLER_FAILED' })
})

test.each(['BODY_INVALID', 'KEY_REUSED'] as const)('%s cannot be fixed by another attempt', (code) => {
  expect(judge(new JustonceError(code, { message: 'x' }), retry, 0, 0)).toMatchObject({ state: 'dead', reason: code })
})

test('an error of our own is the reason by its code, and may be tried again', () => {
  const error = new JustonceError('HANDLER_TIMEOUT', { message: 'x' })
  expect(judge(error, retry, 0, 0)).toMatchObject({ state: 'waiting', reason: 'HANDLER_TIMEOUT' })
})

test.each([
  ['throws', thrower],
  ['answers no number', () => Number.NaN],
  ['answers text', () => '5' as unknown as number],
  ['answers a negative number', () => -5],
])('a backoff that %s does not keep a message from being parked, and is reported', (_, backoff) => {
  const verdict = judge(new Error('x'), { ...retry, backoff }, 0, 0.5)
  expect(verdict).toMatchObject({ state: 'waiting', delayMs: 750, complaint: { code: 'BACKOFF_INVALID' } })
})

test('a delay has an end', () => {
  const verdict = judge(new Error('x'), { ...retry, backoff: () => Number.POSITIVE_INFINITY }, 0, 0.5)
  expect(verdict).toMatchObject({ state: 'waiting', delayMs: 365 * 24 * 3_600_000 })
})

test('a backoff gets the attempt and the error, and may end it', () => {
  const seen: unknown[] = []
  const backoff = (attempt: number, error: unknown) => {
    seen.push(attempt, error)
    return 'dead' as const
  }
  const error = new Error('x')
  expect(judge(error, { ...retry, backoff }, 1, 0)).toMatchObject({ state: 'dead', attempts: 2 })
  expect(seen).toEqual([2, error])
})

test('what is classified as permanent is dead at once; a classification that throws is reported', () => {
  const classify = (error: unknown) => ((error as Error).message === 'bad' ? 'permanent' : 'temporary')
  expect(judge(new Error('bad'), { ...retry, classify }, 0, 0)).toMatchObject({ state: 'dead', attempts: 1 })
  expect(judge(new Error('good'), { ...retry, classify }, 0, 0)).toMatchObject({ state: 'waiting' })
  const verdict = judge(new Error('x'), { ...retry, classify: thrower as never }, 0, 0)
  expect(verdict).toMatchObject({ state: 'waiting', complaint: { code: 'BACKOFF_INVALID' } })
})

function thrower(): never {
  throw new Error('of the policy')
}
