import { expect, test } from 'vitest'
import type { JustonceEvent } from '../contracts/index.ts'
import { Counter } from './counter.ts'

const about = { handler: 'tag-note', key: 'm1', type: 'note' } as const
const copy = { ...about, messageId: 'm1', source: 'notes', redelivered: false } as const
const parked = { kind: 'parked', handler: 'tag-note', key: 'm1', reason: 'HANDLER_FAILED', error: undefined } as const

test('every end of a message is counted once, and waiting for a turn is no failure', () => {
  const counter = new Counter(0)
  const events: readonly JustonceEvent[] = [
    { kind: 'processed', ...about },
    { kind: 'processed', ...about, attempt: 2 },
    { kind: 'duplicate', ...copy, from: 'cache' },
    { kind: 'duplicate', ...copy, from: 'store' },
    { ...parked, state: 'waiting', attempts: 1 },
    { ...parked, state: 'waiting', attempts: 0, reason: 'WAITS_FOR_EARLIER_HANDLER' },
    { ...parked, state: 'dead', attempts: 5 },
    { ...parked, state: 'dead', attempts: 0, reason: 'KEY_REUSED' },
    { kind: 'expired', ...about },
    { kind: 'published', messages: 3 },
    { kind: 'relayed', destination: 'events', sent: 2, failed: 1 },
    { kind: 'batch', messages: 7, handled: 7, ms: 12 },
    { kind: 'store-up' },
  ]
  for (const event of events) counter.heard(event)
  counter.heard({ kind: 'called', handler: 'tag-note', messages: 1, ms: 1, failed: false })
  counter.look(1_000)
  const { minute } = counter
  expect(minute.handlers.get('tag-note')).toEqual({
    ...{ processed: 2, knownHere: 1, knownInStore: 1, failed: 2, retried: 2, dead: 2, expired: 1 },
    durations: new Map([[7, 1]]),
  })
  expect(minute).toMatchObject({ published: 3, batches: { count: 1, messages: 7, largest: 7, ms: 12 } })
  expect(minute.destinations.get('events')).toEqual({ sent: 2, failed: 1 })
})

test('what is recent is forgotten after a while, the minute only when it ends', () => {
  const counter = new Counter(0)
  counter.heard({ kind: 'processed', ...about })
  for (const now of [5_000, 10_000, 15_000]) counter.look(now)
  const recent = counter.look(20_000)
  expect([counter.minute.handlers.size, recent.counts.handlers.size, recent.ms]).toEqual([1, 0, 15_000])
  counter.nextMinute()
  expect(counter.minute.handlers.size).toBe(0)
})
