import { expect, test } from 'vitest'
import { engineCases, storeCases } from '../../src/testing/index.ts'
import { refuseIdleSkips } from './bind-cases.ts'

const cases = [{ name: 'claim: one' }]

test('a skip must name a case that exists and give a reason', () => {
  expect(() => refuseIdleSkips(cases, [{ case: 'claim: one', reason: 'it cannot' }])).not.toThrow()
  expect(() => refuseIdleSkips(cases, [{ case: 'claim: two', reason: 'it cannot' }])).toThrow('no case called')
  expect(() => refuseIdleSkips(cases, [{ case: 'claim: one', reason: ' ' }])).toThrow('gives no reason')
})

test('every case has a name of its own, made of a topic and a sentence', () => {
  const names = [...storeCases, ...engineCases].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z ]+: \S/)
})
