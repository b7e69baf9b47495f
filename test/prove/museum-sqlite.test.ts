import { expect, test } from 'vitest'
import { prove } from '../../src/testing/index.ts'
import { addToBalance, insertPayment, proofOf } from './museum/payments.ts'
import { sqliteExhibits } from './museum/sqlite.ts'

test.each(sqliteExhibits)('$title: $expected', async ({ options, expected }) => {
  const proof = await prove(options)
  expect(
    proof.failures.map(({ name }) => name),
    proof.report,
  ).toEqual([expected])
  const [failure] = proof.failures
  expect(failure?.handlers, 'whose failure it is').toHaveLength(1)
  expect(failure?.seen.length, 'what was seen').toBeGreaterThan(0)
  if (['not-awaited', 'runs-on', 'commits-itself'].includes(expected))
    expect(failure?.seen.join('\n'), 'where in the code').toMatch(/at .*\(test\/prove\/museum\/\w+\.ts:\d+:\d+\)/)
  expect(proof.report).toContain(failure?.title)
  expect(proof.report).toContain(expected)
  expect(proof.ok).toBe(false)
  expect(() => proof.assert()).toThrow(failure?.title)
})

test('the handler that all of them are variations of is proven', async () => {
  const proof = await prove(
    proofOf((message, context) => {
      insertPayment(context, message)
      addToBalance(context, message)
    }),
  )
  expect(proof.failures, proof.report).toEqual([])
  expect(proof.ok).toBe(true)
  expect(() => proof.assert()).not.toThrow()
})

test('what is allowed is reported, and the proof is ok', async () => {
  const handler = sqliteExhibits.find(({ title }) => title === 'makes up ids')
  const proof = await prove({ ...handler!.options, allow: ['reads-randomness'] })
  expect(proof.failures.map(({ name, isAllowed }) => [name, isAllowed])).toEqual([['reads-randomness', true]])
  expect(proof.ok).toBe(true)
  expect(proof.report).toContain('allowed')
})

test('a column that is ignored may hold the time of processing', async () => {
  const handler = sqliteExhibits.find(({ title }) => title === 'writes down the time of day')
  const proof = await prove({ ...handler!.options, ignore: ['payments.amount'] })
  expect(proof.ok, proof.report).toBe(true)
})
