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

test('what a listener fails to hear is printed instead, and an asynchronous failure ends nothing either', async () => {
  const printed: string[] = []
  const failures: unknown[] = []
  const note = (reason: unknown): void => void failures.push(reason)
  process.on('unhandledRejection', note)
  try {
    const hub = eventHub(({ kind }) => void printed.push(kind))
    const heard: string[] = []
    hub.listen(() => {
      throw new Error('the logger is broken')
    })
    hub.listen(({ kind }) => void heard.push(kind))
    hub.listen((() => Promise.reject(new Error('its server is away'))) as () => void)
    hub.emit({ kind: 'store-up' })
    expect([heard, printed]).toEqual([['store-up'], ['store-up']])
    await new Promise((resolve) => setImmediate(resolve))
    expect(printed).toEqual(['store-up', 'store-up'])
    expect(failures).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})
