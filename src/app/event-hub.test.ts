import { expect, test } from 'vitest'
import { eventHub } from './event-hub.ts'

test('the log goes on while only those listen who do not replace it, and again when the last one has left who does', () => {
  const printed: string[] = []
  const counted: string[] = []
  const hub = eventHub(({ kind }) => void printed.push(kind))
  hub.listen(({ kind }) => void counted.push(kind), { replacesLog: false })
  hub.emit({ kind: 'store-up' })
  expect([printed.length, counted.length]).toEqual([1, 1])
  const leave = hub.listen(() => {})
  hub.emit({ kind: 'store-up' })
  expect([printed.length, counted.length]).toEqual([1, 2])
  leave()
  leave()
  hub.emit({ kind: 'store-up' })
  expect([printed.length, counted.length]).toEqual([2, 3])
})
