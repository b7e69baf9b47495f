import { describe, expect, test } from 'vitest'
import { makePlan } from '../../demo/plan.ts'

describe('the plan of a demo', () => {
  test('is the same for the same seed and another for another', () => {
    const wanted = { messages: 300, kills: 4, seed: 11 }
    const { sendable: _, ...plan } = makePlan(wanted)
    const { sendable: __, ...again } = makePlan(wanted)
    expect(again).toEqual(plan)
    expect(makePlan({ ...wanted, seed: 12 }).copies).not.toEqual(plan.copies)
  })

  test('sends every payment 1 to 4 times, and no copy twice', () => {
    const { payments, copies } = makePlan({ messages: 500, kills: 0, seed: 3 })
    const counts = new Map<string, number>()
    for (const { payment } of copies) counts.set(payment.id, (counts.get(payment.id) ?? 0) + 1)
    expect(counts.size).toBe(payments.length)
    expect([...new Set(counts.values())].sort()).toEqual([1, 2, 3, 4])
    expect(new Set(copies.map(({ payment, number }) => `${payment.id}/${number}`)).size).toBe(copies.length)
  })

  test.each([1, 3, 12, 40])(
    'has more copies sent than consumed at each of %i kills, and all sent after the last',
    (kills) => {
      const plan = makePlan({ messages: 400, kills, seed: 8 })
      plan.kills.forEach(({ atConsumed }, killsDone) => {
        expect(atConsumed).toBeGreaterThan(0)
        expect(plan.sendable(killsDone)).toBeGreaterThan(atConsumed + plan.copies.length / (kills + 2))
      })
      expect(plan.sendable(kills)).toBe(plan.copies.length)
    },
  )
})
