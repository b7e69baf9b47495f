import { expect, test } from 'vitest'
import type { Delivery } from '../contracts/index.ts'
import { PositionLedger } from './position-ledger.ts'

const partition = { source: 'notes', partition: '0' }
const at = (next: string) => ({ next, incarnation: 'one' })
const delivery = (next: string): Delivery => ({
  message: { source: 'notes', headers: {}, body: new Uint8Array() },
  place: { partition: '0', ...at(next) },
})

test('a move goes from what is stored to behind the last', () => {
  const ledger = new PositionLedger('group')
  ledger.restored(partition, at('3'))
  const moves = ledger.movesPast([delivery('4'), delivery('9')])
  expect(moves).toEqual([{ ...partition, expected: at('3'), to: at('9') }])
  ledger.moved(moves)
  expect(ledger.movesPast([delivery('10')])[0]?.expected).toEqual(at('9'))
})

test('what an earlier assignment has moved is not taken for what the present one has stored', () => {
  const ledger = new PositionLedger('group')
  ledger.restored(partition, undefined)
  const old = ledger.movesPast([delivery('1')])
  ledger.restored(partition, undefined)
  ledger.moved(old)
  expect(ledger.movesPast([delivery('1')])[0]?.expected).toBeUndefined()
})

test('what arrived under an earlier assignment is not ours', () => {
  const ledger = new PositionLedger('group')
  const [before, first, second] = [delivery('1'), delivery('1'), delivery('1')]
  ledger.arrived([before])
  ledger.restored(partition, undefined)
  ledger.arrived([first])
  expect([ledger.isOurs(before), ledger.isOurs(first)]).toEqual([false, true])
  ledger.restored(partition, undefined)
  ledger.arrived([second])
  expect([ledger.isOurs(first), ledger.isOurs(second)]).toEqual([false, true])
})
