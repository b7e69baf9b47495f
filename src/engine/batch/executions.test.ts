import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Handler } from '../handler.ts'
import type { Run, Work } from '../items.ts'
import { affinityOf } from '../order/chain.ts'
import { type Execution, planExecutions, split } from './executions.ts'

type Kind = 'each' | 'batch'

/** Only what the plan looks at. */
function handler(name: string, kind: Kind): Handler {
  return { name, call: { kind } } as Handler
}

interface Arrived {
  readonly key?: string
  readonly type?: string
  readonly lane?: string
}

function work(id: string, handlers: readonly Handler[], { key, type = 't', lane }: Arrived = {}) {
  const runs: Run<unknown>[] = []
  const one = { delivery: { message: { id, key, type }, lane }, runs } as unknown as Work<unknown>
  for (const each of handlers) runs.push({ handler: each, key: id } as Run<unknown>)
  return one
}

const plan = (...works: Work<unknown>[]) =>
  planExecutions(works).map((execution) => `${execution.handler.name}(${keysOf(execution)})`)
const keysOf = ({ runs }: Execution<unknown>) => runs.map(({ key }) => key).join(' ')

const [a, b, c] = [handler('a', 'each'), handler('b', 'each'), handler('c', 'each')]
const [all, more] = [handler('all', 'batch'), handler('more', 'batch')]

test('a message goes through all its handlers before the next one', () => {
  expect(plan(work('1', [a, b]), work('2', [a, b]))).toEqual(['a(1)', 'b(1)', 'a(2)', 'b(2)'])
})

test('messages go by their key, in order of arrival inside a key; those without one come first, as they came', () => {
  expect(
    plan(
      work('1', [a], { key: 'y' }),
      work('2', [a], { key: 'x' }),
      work('3', [a]),
      work('4', [a], { key: 'y' }),
      work('5', [a]),
      work('6', [a], { key: 'x' }),
    ),
  ).toEqual(['a(3)', 'a(5)', 'a(2)', 'a(6)', 'a(1)', 'a(4)'])
})

test('messages of a lane go in order of arrival, whatever their keys', () => {
  const [p0, p1] = [{ lane: 'notes/0' }, { lane: 'notes/1' }]
  expect(
    plan(
      work('1', [a], { ...p1, key: 'z' }),
      work('2', [a], { ...p0, key: 'y' }),
      work('3', [a], { ...p1, key: 'x' }),
      work('4', [a], p0),
      work('5', [a], { ...p0, key: 'w' }),
    ),
  ).toEqual(['a(2)', 'a(4)', 'a(5)', 'a(1)', 'a(3)'])
})

test('in a lane, another type waits behind a batch handler and before one, whatever the keys', () => {
  const [paid, cancelled] = [
    { type: 'paid', lane: 'p' },
    { type: 'cancelled', lane: 'p' },
  ]
  expect(
    plan(
      work('1', [all], { ...paid, key: 'k' }),
      work('2', [all], { ...paid, key: 'l' }),
      work('3', [a], { ...cancelled, key: 'm' }),
      work('4', [a], cancelled),
      work('5', [all], paid),
      work('6', [all], { ...paid, lane: 'q' }),
    ),
  ).toEqual(['all(1 2 6)', 'a(3)', 'a(4)', 'all(5)'])
})

test('a batch handler gets all its messages in one call', () => {
  expect(plan(work('1', [all]), work('2', [all]), work('3', [all]))).toEqual(['all(1 2 3)'])
})

test('what follows a batch handler waits until that has had all its messages', () => {
  expect(plan(work('1', [a, all, b]), work('2', [a, all, b]))).toEqual(['a(1)', 'a(2)', 'all(1 2)', 'b(1)', 'b(2)'])
  expect(plan(work('1', [all, more]), work('2', [all, more]))).toEqual(['all(1 2)', 'more(1 2)'])
})

test('within a key another type waits behind a batch handler, and before one', () => {
  const paid = { key: 'k', type: 'paid' }
  const cancelled = { key: 'k', type: 'cancelled' }
  expect(plan(work('1', [all], paid), work('2', [a], cancelled))).toEqual(['all(1)', 'a(2)'])
  expect(plan(work('1', [a], cancelled), work('2', [all], paid))).toEqual(['a(1)', 'all(2)'])
  expect(plan(work('1', [all], paid), work('2', [a], cancelled), work('3', [all], paid))).toEqual([
    'all(1)',
    'a(2)',
    'all(3)',
  ])
  expect(plan(work('1', [all], paid), work('2', [all], paid), work('3', [more], cancelled))).toEqual([
    'all(1 2)',
    'more(3)',
  ])
})

test('other keys do not wait for it', () => {
  const types = { paid: 'paid', noted: 'noted' }
  expect(
    plan(work('1', [all], { key: 'x', type: types.paid }), work('2', [a], { key: 'y', type: types.noted })),
  ).toEqual(['a(2)', 'all(1)'])
})

test('every run is in the plan once; handlers of a message keep their order, and so do messages of a lane or key', () => {
  const types: Record<string, readonly Handler[]> = { one: [a, all, b], two: [c], three: [more] }
  const some = fc.constantFrom('x', 'y', undefined)
  const arrival = fc.record({ type: fc.constantFrom('one', 'two', 'three'), key: some, lane: some })
  fc.assert(
    fc.property(fc.array(arrival, { maxLength: 12 }), (arrivals) => {
      const works = arrivals.map(({ type, ...where }, index) =>
        work(String(index), types[type] ?? [], { ...where, type }),
      )
      const order = planExecutions(works).flatMap(({ runs }) => runs)
      expect(new Set(order).size).toBe(order.length)
      expect(order.length).toBe(works.flatMap(({ runs }) => runs).length)
      for (const { runs } of works) expect(runs.map((run) => order.indexOf(run)).every(isGrowing)).toBe(true)
      for (const key of ['x', 'y']) {
        const firsts = works
          .filter(({ delivery }) => affinityOf(delivery) === key)
          .map(({ runs }) => order.indexOf(runs[0] as Run<unknown>))
        expect(firsts.every(isGrowing)).toBe(true)
      }
    }),
  )
})

function isGrowing(value: number, index: number, list: readonly number[]): boolean {
  return index === 0 || (list[index - 1] as number) < value
}

test('several calls are halved, and so is one call of many messages', () => {
  const show = (parts: Execution<unknown>[][]) => parts.map((part) => part.map((execution) => keysOf(execution)))
  const one = planExecutions([work('1', [a]), work('2', [a]), work('3', [a])])
  expect(show(split(one))).toEqual([['1', '2'], ['3']])
  const batch = planExecutions([work('1', [all]), work('2', [all]), work('3', [all])])
  expect(show(split(batch))).toEqual([['1 2'], ['3']])
  expect(show(split(planExecutions([work('1', [all]), work('2', [all])])))).toEqual([['1'], ['2']])
})
