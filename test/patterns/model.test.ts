import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { domains, refusal } from './domains.ts'
import { type Call, isSomeOrder } from './linearize.ts'
import { type Place, places } from './places.ts'

const numRuns = process.env.JUSTONCE_LONG_TESTS === undefined ? 15 : 100

/** Besides the transactions of a store: those of a caller, with the isolation that it has chosen. */
const ways = [
  ...Object.keys(places).map((name) => ({ name, isolation: undefined })),
  ...['pg', 'mysql2'].flatMap((name) =>
    ['REPEATABLE READ', 'SERIALIZABLE'].map((isolation) => ({ name, isolation: isolation as string | undefined })),
  ),
]

for (const { name, isolation } of ways) {
  const { isHere, open } = places[name] as (typeof places)[string]
  describe.skipIf(!isHere)(`patterns beside a model on ${name}, ${isolation ?? 'in a store'}`, () => {
    let place: Place
    let world = 0
    beforeAll(async () => {
      place = await open()
    })
    afterAll(() => place.close())
    /** A conflict of the database is run again, as the engine does it. */
    const within = async <T>(work: (tx: unknown) => Promise<T>): Promise<T> => {
      try {
        if (isolation !== undefined) return (await place.transaction?.(isolation, work)) as T
        return await place.store.transaction(work)
      } catch (error) {
        if (place.store.classify(error) !== 'conflict') throw error
        return await within(work)
      }
    }

    test.each(Object.entries(domains))(
      '%s: callers at once get the answers of some order of their calls',
      async (_, domain) => {
        const { ops, from, step } = domain
        // The last caller makes the same calls as the first one: copies.
        const programs = fc
          .array(fc.array(ops, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })
          .map((callers) => [...callers, callers[0] as unknown[]])
        const check = async (callers: readonly (readonly unknown[])[]): Promise<void> => {
          const { prepare, call, state } = domain.open(place.table, ++world)
          await within(prepare)
          const histories = await Promise.all(
            callers.map(async (program) => {
              const calls: Call<unknown>[] = []
              for (const op of program) {
                const answer = await within((tx) => call(tx, op)).catch(refusal)
                calls.push({ op, answer })
              }
              return calls
            }),
          )
          const to = await within(state)
          const story = JSON.stringify({ histories, to }, undefined, 1)
          expect(isSomeOrder(histories, step, { from, to }), story).toBe(true)
        }
        await fc.assert(fc.asyncProperty(programs, check), { numRuns, endOnFailure: true })
      },
      120_000,
    )
  })
}

test('an answer that no order explains is found: two callers that both have moved the same row', () => {
  const { from, step } = domains['transition, stateMachine, updateIf, updateVersioned and softDelete'] as never as {
    from: { total: number }
    step: never
  }
  const moved = { op: { fn: 'transition', of: 0, to: 'paid' }, answer: ['moved'] }
  const to = { ...from, state: 'paid', total: 1 }
  expect(isSomeOrder([[moved]], step, { from, to })).toBe(true)
  expect(isSomeOrder([[moved], [moved]], step, { from, to })).toBe(false)
  expect(isSomeOrder([[moved]], step, { from, to: { ...to, total: 2 } })).toBe(false)
})
