import { expect, test } from 'vitest'
import { type Alone, nextStep, type Step, type Trouble } from './next-step.ts'
import type { WhyRolledBack } from './why-rolled-back.ts'

const options = { conflictsPerAttempt: 5 }
const next = (trouble: Trouble): string => text(nextStep(trouble, options))
const text = (step: Step): string => (step.kind === 'again' ? `again after ${step.afterMs}` : step.kind)

const reasons: readonly WhyRolledBack[] = [
  'failure',
  'culprit',
  'held',
  'unkeepable',
  'conflict',
  'commit-unknown',
  'connection-lost',
]

/** What is done the first time, by the reason. */
const table = (known: Omit<Trouble, 'why' | 'times'>, times = 1): Record<string, string> =>
  Object.fromEntries(reasons.map((why) => [why, next({ ...known, why, times })]))

test('together, and nobody is to blame', () => {
  expect(table({ of: 'shared', canHaveParts: true })).toEqual({
    failure: 'in-parts',
    culprit: 'each-alone',
    held: 'each-alone',
    unkeepable: 'each-alone',
    conflict: 'each-alone',
    'commit-unknown': 'again after 0',
    'connection-lost': 'again after 100',
  })
  expect(table({ of: 'shared', canHaveParts: false }).failure).toBe('each-alone')
})

test('together, and it is known who is to blame', () => {
  const blamed = table({ of: 'shared', isBlamed: true, canHaveParts: true })
  expect(blamed).toEqual({
    ...Object.fromEntries(reasons.map((why) => [why, 'without-the-blamed'])),
    // Whatever the cause, first it must be clear what was committed.
    'commit-unknown': 'again after 0',
  })
})

test('together, what may pass is tried a few times more', () => {
  const shared = { of: 'shared' } as const
  const steps = (why: WhyRolledBack) => [1, 2, 3, 4].map((times) => next({ ...shared, why, times }))
  expect(steps('commit-unknown')).toEqual(['again after 0', 'again after 0', 'again after 0', 'each-alone'])
  expect(steps('connection-lost')).toEqual(['again after 100', 'again after 400', 'each-alone', 'each-alone'])
})

test('a large batch that collides runs together once more: alone, each message would be a transaction', () => {
  const large = { of: 'shared', isLarge: true, why: 'conflict' } as const
  expect([1, 2, 3].map((times) => next({ ...large, times }))).toEqual(['again after 0', 'each-alone', 'each-alone'])
})

test('alone, and nothing is known against it', () => {
  expect(table({ of: 'unknown' })).toEqual({
    failure: 'fail',
    culprit: 'fail',
    held: 'hold',
    unkeepable: 'keep',
    conflict: 'again after 2',
    'commit-unknown': 'again after 2',
    'connection-lost': 'again after 100',
  })
})

test('alone, and known to fail', () => {
  expect(table({ of: 'failing' }, 5)).toEqual({
    failure: 'plainly',
    culprit: 'keep',
    held: 'hold',
    unkeepable: 'keep',
    conflict: 'hold',
    'commit-unknown': 'hold',
    'connection-lost': 'keep',
  })
  expect(table({ of: 'plain' }, 5)).toEqual({ ...table({ of: 'failing' }, 5), failure: 'keep' })
})

test('alone, as the last resort', () => {
  expect(table({ of: 'last-resort' }, 5)).toEqual(Object.fromEntries(reasons.map((why) => [why, 'stick'])))
})

test('alone, what may pass is tried again for longer and longer, and then it is a failure', () => {
  const steps = (why: WhyRolledBack) => [1, 2, 3, 4, 5].map((times) => next({ of: 'unknown', why, times }))
  const conflicts = ['again after 2', 'again after 4', 'again after 8', 'again after 16', 'fail']
  expect(steps('conflict')).toEqual(conflicts)
  expect(steps('commit-unknown')).toEqual(conflicts)
  expect(steps('connection-lost')).toEqual(['again after 100', 'again after 400', 'fail', 'fail', 'fail'])
  const many = { conflictsPerAttempt: 100 }
  expect(text(nextStep({ of: 'unknown', why: 'conflict', times: 50 }, many))).toBe('again after 64')
})

test('where a right is missing, nothing is held against a message, and nothing is parked', () => {
  for (const of of ['unknown', 'failing', 'plain', 'last-resort'] satisfies Alone[])
    for (const why of ['failure', 'held', 'unkeepable'] as const)
      expect(next({ of, why, times: 1, isDenied: true })).toBe('stick')
})
