import { expect, onTestFinished, test } from 'vitest'
import type { JustonceEvent, OutgoingMessage, PublishResult, Transport } from '../contracts/index.ts'
import { outboxRow } from '../encoding/packed-message.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { relay as newRelay } from './relay.ts'

type Answer = (message: OutgoingMessage) => PublishResult

function openRelay({ attempts = 3, batch = 10 } = {}) {
  const clock = fakeClock()
  const store = memoryStore({ database: new MemoryDatabase({ clock }) })
  const events: JustonceEvent[] = []
  /** The ids of every call, whatever came of it. */
  const calls: string[][] = []
  let answer: Answer = () => ({ kind: 'sent' })
  const transport = {
    name: 'test',
    async publish(messages: readonly OutgoingMessage[]) {
      calls.push(messages.map(({ id }) => id))
      return messages.map(answer)
    },
  } as unknown as Transport
  const emit = (event: JustonceEvent) => void events.push(event)
  const relay = newRelay(
    { outbox: store.outbox, transport, clock, events: { emit, listen: () => () => {} } },
    { batch, leaseMs: 30_000, pollMs: 1_000, attempts },
  )
  onTestFinished(() => relay.stop())
  return {
    relay,
    clock,
    store,
    events,
    calls,
    answerWith: (next: Answer) => {
      answer = next
    },
    appendKeyed: (...messages: [string, string][]) =>
      store.transaction((tx) =>
        store.outbox.append(
          tx,
          messages.map(([id, key]) => outboxRow({ ...message(id), key })),
        ),
      ),
    append: (...ids: string[]) =>
      store.transaction((tx) =>
        store.outbox.append(
          tx,
          ids.map((id) => outboxRow(message(id))),
        ),
      ),
  }
}

function message(id: string): OutgoingMessage {
  return { id, type: 'note.tagged', body: Uint8Array.of(1), headers: { a: 'b' }, key: 'k', sentAt: new Date(5) }
}

const refused: PublishResult = { kind: 'refused', error: new Error('too large') }

test('what is in the outbox is sent, oldest first, and removed', async () => {
  const { relay, clock, store, calls, events, append } = openRelay()
  await append('m1', 'm2')
  await append('m3')
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1', 'm2', 'm3']])
  expect(await store.outbox.count()).toEqual({ pending: 0, dead: 0 })
  expect(events).toEqual([{ kind: 'relayed', sent: 3, failed: 0 }])
})

test('large messages are sent a few at a time', async () => {
  const { relay, clock, store, calls } = openRelay()
  const large = (id: string) => outboxRow({ ...message(id), body: new Uint8Array(9_000_000) })
  await store.transaction((tx) => store.outbox.append(tx, ['m1', 'm2', 'm3'].map(large)))
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1', 'm2'], ['m3']])
})

test('it is sent as it was published', async () => {
  const { relay, clock, append, answerWith } = openRelay()
  const sent: OutgoingMessage[] = []
  answerWith((each) => {
    sent.push(each)
    return { kind: 'sent' }
  })
  await append('m1')
  relay.start()
  await clock.advance(0)
  expect(sent).toEqual([message('m1')])
})

test('more than fits into one batch goes in several, without a pause between them', async () => {
  const { relay, clock, calls, append } = openRelay({ batch: 2 })
  await append('m1', 'm2', 'm3', 'm4', 'm5')
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1', 'm2'], ['m3', 'm4'], ['m5']])
})

test('it looks by itself from time to time, and at once when it is woken', async () => {
  const { relay, clock, calls, append } = openRelay()
  relay.start()
  await clock.advance(0)
  await append('m1')
  await clock.advance(999)
  expect(calls).toEqual([])
  await clock.advance(1)
  expect(calls).toEqual([['m1']])
  await append('m2')
  relay.wake()
  await clock.advance(0)
  expect(calls).toEqual([['m1'], ['m2']])
})

test('a wake-up while it is looking is not lost', async () => {
  const { relay, clock, store, calls, append } = openRelay()
  const { lease } = store.outbox
  let looks = 0
  store.outbox.lease = async (...options) => {
    const found = await lease(...options)
    if (looks++ === 0) {
      // It has just seen an empty outbox when something is stored and it is told so.
      await append('m1')
      relay.wake()
    }
    return found
  }
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1']])
})

test('a refused message is tried again, later each time, and is dead after its attempts; it is said each time', async () => {
  const { relay, clock, store, calls, events, append, answerWith } = openRelay({ attempts: 3 })
  answerWith(({ id }) => (id === 'bad' ? refused : { kind: 'sent' }))
  await append('m1', 'bad', 'm2')
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1', 'bad', 'm2']])
  expect(await store.outbox.count()).toEqual({ pending: 1, dead: 0 })
  const { error } = refused as { error: Error }
  expect(events).toEqual([
    { kind: 'outgoing-refused', messageId: 'bad', state: 'waiting', attempts: 1, error },
    { kind: 'relayed', sent: 2, failed: 1 },
  ])
  await clock.advance(10_000)
  expect(calls).toEqual([['m1', 'bad', 'm2'], ['bad'], ['bad']])
  expect(await store.outbox.count()).toEqual({ pending: 0, dead: 1 })
  expect(events).toContainEqual({ kind: 'outgoing-refused', messageId: 'bad', state: 'dead', attempts: 3, error })
  await clock.advance(3_600_000)
  expect(calls).toHaveLength(3)
})

test('a refused message holds back its key until it is taken or given up, and no other key', async () => {
  const { relay, clock, store, calls, appendKeyed, answerWith } = openRelay({ attempts: 2 })
  answerWith(({ id }) => (id === 'a1' ? refused : id === 'a2' ? { kind: 'held' } : { kind: 'sent' }))
  await appendKeyed(['a1', 'a'], ['a2', 'a'], ['b1', 'b'])
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['a1', 'a2', 'b1']])
  await appendKeyed(['a3', 'a'], ['b2', 'b'])
  relay.wake()
  await clock.advance(0)
  expect(calls.at(-1)).toEqual(['b2'])
  answerWith(() => ({ kind: 'sent' }))
  await clock.advance(2_000)
  expect(calls.at(-1)).toEqual(['a1', 'a2', 'a3'])
  expect(await store.outbox.count()).toEqual({ pending: 0, dead: 0 })
})

test('after an outage everything leaves in its order, soon after the broker is back', async () => {
  const { relay, clock, calls, append, answerWith } = openRelay({ batch: 2 })
  answerWith(() => {
    throw new Error('connection lost')
  })
  await append('m1', 'm2', 'm3')
  relay.start()
  await clock.advance(60_000)
  const failed = calls.length
  expect(calls.every((ids) => ids.join() === 'm1,m2')).toBe(true)
  answerWith(() => ({ kind: 'sent' }))
  await clock.advance(5_000)
  expect(calls.slice(failed)).toEqual([['m1', 'm2'], ['m3']])
})

test('a refused message that is taken later is gone', async () => {
  const { relay, clock, store, calls, append, answerWith } = openRelay()
  answerWith(() => refused)
  await append('m1')
  relay.start()
  await clock.advance(0)
  answerWith(() => ({ kind: 'sent' }))
  await clock.advance(10_000)
  expect(calls).toEqual([['m1'], ['m1']])
  expect(await store.outbox.count()).toEqual({ pending: 0, dead: 0 })
})

test('when nobody knows whether it was sent, it is sent again under the same id, as often as it takes', async () => {
  const { relay, clock, store, calls, events, append, answerWith } = openRelay({ attempts: 2 })
  const error = new Error('connection lost')
  answerWith(() => {
    throw error
  })
  await append('m1')
  relay.start()
  await clock.advance(0)
  expect(events).toEqual([{ kind: 'loop-failed', loop: 'relay', error }])
  await clock.advance(100_000)
  expect(calls.length).toBeGreaterThan(2)
  answerWith(() => ({ kind: 'sent' }))
  await clock.advance(31_000)
  expect(new Set(calls.flat())).toEqual(new Set(['m1']))
  expect(await store.outbox.count()).toEqual({ pending: 0, dead: 0 })
})

test('what could not be marked as sent is sent again', async () => {
  const { relay, clock, store, calls, append } = openRelay()
  const { markSent } = store.outbox
  let failures = 1
  store.outbox.markSent = async (messages) => {
    if (failures-- > 0) throw new Error('store lost')
    return markSent(messages)
  }
  await append('m1')
  relay.start()
  await clock.advance(40_000)
  expect(calls).toEqual([['m1'], ['m1']])
  expect(await store.outbox.count()).toEqual({ pending: 0, dead: 0 })
})

test('while the store fails it looks less and less often, whoever wakes it, and then sends what waits', async () => {
  const { relay, clock, store, calls, append } = openRelay()
  const { lease } = store.outbox
  let looks = 0
  store.outbox.lease = async (...options) => {
    if (++looks <= 4) throw new Error('store lost')
    return lease(...options)
  }
  await append('m1')
  relay.start()
  await clock.advance(3_000)
  relay.wake()
  await clock.advance(0)
  expect(looks).toBeLessThan(5)
  expect(calls).toEqual([])
  await clock.advance(20_000)
  expect(calls).toEqual([['m1']])
})

test('stopping ends its sleep, and waits for what is being sent', async () => {
  const { relay, clock, store, append, answerWith } = openRelay()
  relay.start()
  await clock.advance(0)
  expect(clock.waiting()).toBe(1)
  await relay.stop()
  expect(clock.waiting()).toBe(0)

  const second = openRelay()
  const sending = Promise.withResolvers<void>()
  second.store.outbox.markSent = async () => {
    await sending.promise
    return 1
  }
  await second.append('m1')
  second.relay.start()
  await second.clock.advance(0)
  let isStopped = false
  const stopped = second.relay.stop().then(() => {
    isStopped = true
  })
  await second.clock.advance(0)
  expect(isStopped).toBe(false)
  sending.resolve()
  await stopped
  // Nothing is sent after that.
  answerWith(() => ({ kind: 'sent' }))
  await append('m1')
  await clock.advance(60_000)
  expect(await store.outbox.count()).toEqual({ pending: 1, dead: 0 })
})
