import { expect, expectTypeOf, test } from 'vitest'
import { stateMachine, type Transition } from '../../src/patterns/index.ts'

test('a state machine knows its states, and refuses a target that is none', () => {
  const orders = stateMachine('orders', { new: ['paid', 'cancelled'], paid: ['shipped'], shipped: [], cancelled: [] })
  expectTypeOf(orders.from).parameter(0).toEqualTypeOf<'paid' | 'cancelled' | 'shipped'>()
  expectTypeOf(orders.move).returns.resolves.toEqualTypeOf<Transition<'new' | 'paid' | 'shipped' | 'cancelled'>>()

  const refused = { code: 'OPTION_INVALID', message: expect.stringContaining('no state') }
  // @ts-expect-error: misspelt
  expect(() => stateMachine('orders', { new: ['piad'], paid: [] })).toThrow(expect.objectContaining(refused))
  // @ts-expect-error: shipped is not named as a state
  expect(() => stateMachine('orders', { new: ['paid'], paid: ['shipped'] })).toThrow(expect.objectContaining(refused))
  // @ts-expect-error: nothing leads to new
  expect(orders.from('new')).toEqual([])
  // @ts-expect-error: misspelt
  expect(orders.from('piad')).toEqual([])
})
