import { expect, onTestFinished, test } from 'vitest'
import type {
  JustonceEvent,
  OutgoingMessage,
  Publisher,
  PublishResult,
  QueuedMessage,
  QueueTicket,
} from '../contracts/index.ts'
import { toQueue } from '../encoding/packed-message.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { Relay } from './relay.ts'

type Answer = (message: OutgoingMessage) => PublishResult

const queue = '>test'
const alwaysOpen = { open: async () => {}, closesFor: () => false }

function openRelay({ attempts = 3, batch = 10 } = {}) {
  const clock = fakeClock()
  const store = memoryStore({ database: new MemoryDatabase({ clock }) })
  const events: JustonceEvent[] = []
  /** The ids of every call, whatever came of it. */
  const calls: string[][] = []
  let answer: Answer = () => ({ kind: 'sent' })
  const publisher: Publisher = {
    destination: 'test',
    async publish(messages) {
      calls.push(messages.map(({ id }) => id))
      return messages.map(answer)
    },
    async close() {},
  }
  const emit = (event: JustonceEvent) => void events.push(event)
  const destination = { name: 'test', publisher, queue, isInStore: false }
  // Nobody tells it that something was sent, unless a test does.
  const deaf = { ...store, queue: { ...store.queue, listen: undefined } }
  const relay = new Relay(
    { store: deaf, destination, clock, events: { emit, listen: () => () => {} }, gate: alwaysOpen },
    { batch, leaseMs: 30_000, pollMs: 1_000, attempts },
  )
  onTestFinished(() => relay.stop())
  const append = (...messages: readonly OutgoingMessage[]) => store.queue.send(undefined, queue, messages.map(toQueue))
  return {
    relay,
    clock,
    store,
    events,
    calls,
    /** The queue as the relay sees it. */
    watched: deaf.queue,
    answerWith: (next: Answer) => {
      answer = next
    },
    left: async () => {
      const { ready, hidden } = await store.queue.count(queue)
      return ready + hidden
    },
    appendMessages: append,
    appendKeyed: (...messages: [string, string][]) => append(...messages.map(([id, key]) => ({ ...message(id), key }))),
    append: (...ids: string[]) => append(...ids.map(message)),
  }
}

function message(id: string): OutgoingMessage {
  return { id, type: 'note.tagged', body: Uint8Array.of(1), headers: { a: 'b' }, key: 'k', sentAt: new Date(5) }
}

const refused: PublishResult = { kind: 'refused', error: new Error('too large') }

test.for([
  { hears: true, looks: 15 },
  { hears: false, looks: 101 },
])('an idle relay that hears of news ($hears) looks $looks times in 100 seconds', async ({ hears, looks }) => {
  const { relay, clock, watched, append, left } = openRelay()
  const { take } = watched
  const listeners = new Set<() => void>()
  let takes = 0
  Object.assign(watched, {
    take: (...given: Parameters<typeof take>) => {
      takes++
      return take(...given)
    },
    ...(hears && {
      listen: async (_: string, wake: () => void) => {
        listeners.add(wake)
        return async () => void listeners.delete(wake)
      },
    }),
  })
  relay.start()
  await clock.advance(100_000)
  expect(takes).toBe(looks)
  // It has not become deaf.
  await append('m1')
  for (const wake of listeners) wake()
  await clock.advance(hears ? 0 : 1_000)
  expect(await left()).toBe(0)
})

test('what waits is sent, oldest first, and removed', async () => {
  const { relay, clock, calls, events, append, left } = openRelay()
  await append('m1', 'm2')
  await append('m3')
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1', 'm2', 'm3']])
  expect(await left()).toBe(0)
  expect(events).toEqual([{ kind: 'relayed', destination: 'test', sent: 3, failed: 0 }])
})

test('large messages are sent a few at a time', async () => {
  const { relay, clock, appendMessages, calls } = openRelay()
  const large = (id: string) => ({ ...message(id), body: new Uint8Array(7_000_000) })
  await appendMessages(...['m1', 'm2', 'm3'].map(large))
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
  const { relay, clock, store, calls, append, watched } = openRelay()
  const { take } = store.queue
  let looks = 0
  watched.take = async (...options) => {
    const found = await take(...options)
    if (looks++ === 0) {
      // It has just seen nothing when something is stored and it is woken.
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
  const { relay, clock, store, calls, events, append, answerWith, left } = openRelay({ attempts: 3 })
  answerWith(({ id }) => (id === 'bad' ? refused : { kind: 'sent' }))
  await append('m1', 'bad', 'm2')
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1', 'bad', 'm2']])
  expect(await left()).toBe(1)
  const { error } = refused as { error: Error }
  expect(events).toEqual([
    { kind: 'outgoing-refused', destination: 'test', messageId: 'bad', state: 'waiting', attempts: 1, error },
    { kind: 'relayed', destination: 'test', sent: 2, failed: 1 },
  ])
  await clock.advance(10_000)
  expect(calls).toEqual([['m1', 'bad', 'm2'], ['bad'], ['bad']])
  expect(await left()).toBe(0)
  expect(await store.parking.list({ state: 'dead' })).toMatchObject([
    { handler: '>test', messageId: 'bad', type: 'note.tagged', reason: 'OUTGOING_REFUSED', attempts: 3 },
  ])
  expect(events).toContainEqual({
    kind: 'outgoing-refused',
    destination: 'test',
    messageId: 'bad',
    state: 'dead',
    attempts: 3,
    error,
  })
  await clock.advance(3_600_000)
  expect(calls).toHaveLength(3)
})

test('a stored message that cannot be read becomes a dead letter at once, and the others are sent', async () => {
  const { relay, clock, store, calls, append, left } = openRelay()
  const message = { envelope: Uint8Array.of(0xff), body: Uint8Array.of(1) }
  await store.queue.send(undefined, queue, [{ key: undefined, message }])
  await append('m1')
  relay.start()
  await clock.advance(0)
  expect(calls).toEqual([['m1']])
  expect(await left()).toBe(0)
  expect(await store.parking.list()).toMatchObject([{ state: 'dead', reason: 'OUTGOING_REFUSED', message }])
})

test('a refused message holds back its key until it is taken or given up, and no other key', async () => {
  const { relay, clock, calls, appendKeyed, answerWith, left } = openRelay({ attempts: 2 })
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
  expect(await left()).toBe(0)
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

test('a message that is refused because a queue is full never dies of it, and is taken soon after there is room', async () => {
  const { relay, clock, store, calls, append, answerWith, left } = openRelay({ attempts: 2 })
  answerWith(() => ({ kind: 'refused', error: new Error('the queue is full'), isPassing: true }))
  await append('m1')
  relay.start()
  await clock.advance(3_600_000)
  expect(await left()).toBe(1)
  expect(await store.parking.list()).toEqual([])
  answerWith(() => ({ kind: 'sent' }))
  const refusals = calls.length
  await clock.advance(60_000)
  expect(calls.slice(refusals)).toEqual([['m1']])
  expect(await left()).toBe(0)
})

test('refusals because a queue is full do not count towards those that a message dies of', async () => {
  const { relay, clock, store, calls, append, answerWith, left } = openRelay({ attempts: 3 })
  answerWith(() => ({ kind: 'refused', error: new Error('the queue is full'), isPassing: true }))
  await append('m1')
  relay.start()
  await clock.advance(600_000)
  expect(calls.length).toBeGreaterThan(3)
  answerWith(() => refused)
  const passing = calls.length
  await clock.advance(11_000)
  expect(calls.length - passing).toBe(2)
  expect(await store.parking.list()).toEqual([])
  expect(await left()).toBe(1)
})

test('a relay that was frozen at the last refusal makes no dead letter of what another has or has sent', async () => {
  const { relay, clock, store, events, append, answerWith, watched } = openRelay({ attempts: 1 })
  answerWith(({ id }) => (id === 'm3' ? { kind: 'held' } : refused))
  const withAnother: QueuedMessage[] = []
  const { take } = store.queue
  // Before it gives up anything it gives back what was held: then it freezes for so long that its time runs out.
  const { hide } = store.queue
  watched.hide = async (name, [held, ...others], visibilityMs, options) => {
    if (!options?.untaken) return await hide(name, [held as QueueTicket, ...others], visibilityMs, options)
    const taken = ['m1', 'm2'].map((_, place) => ({ ...(held as QueueTicket), ticket: String(place + 1) }))
    await hide(name, taken, 0)
    withAnother.push(...(await take(name, { limit: 2, visibilityMs: 3_600_000 })))
    // One of them the other has sent, the other one it is still sending.
    await store.queue.remove(
      undefined,
      name,
      withAnother.slice(0, 1).map(({ ticket }) => ticket),
    )
  }
  await append('m1', 'm2', 'm3')
  relay.start()
  await clock.advance(0)
  expect(withAnother.map(({ deliveries }) => deliveries)).toEqual([2, 2])
  expect(await store.parking.list()).toEqual([])
  expect(events).toEqual([{ kind: 'relayed', destination: 'test', sent: 0, failed: 3 }])
})

test('a refused message that is taken later is gone', async () => {
  const { relay, clock, calls, append, answerWith, left } = openRelay()
  answerWith(() => refused)
  await append('m1')
  relay.start()
  await clock.advance(0)
  answerWith(() => ({ kind: 'sent' }))
  await clock.advance(10_000)
  expect(calls).toEqual([['m1'], ['m1']])
  expect(await left()).toBe(0)
})

test('when nobody knows whether it was sent, it is sent again under the same id, as often as it takes', async () => {
  const { relay, clock, calls, events, append, answerWith, left } = openRelay({ attempts: 2 })
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
  expect(await left()).toBe(0)
})

test('what could not be removed when it was sent is sent again', async () => {
  const { relay, clock, store, calls, append, left, watched } = openRelay()
  const { remove } = store.queue
  let failures = 1
  watched.remove = async (...given) => {
    if (failures-- > 0) throw new Error('store lost')
    return remove(...given)
  }
  await append('m1')
  relay.start()
  await clock.advance(40_000)
  expect(calls).toEqual([['m1'], ['m1']])
  expect(await left()).toBe(0)
})

test('while the store fails it looks less and less often, even when it is woken, and then sends what waits', async () => {
  const { relay, clock, store, calls, append, watched } = openRelay()
  const { take } = store.queue
  let looks = 0
  watched.take = async (...options) => {
    if (++looks <= 4) throw new Error('store lost')
    return take(...options)
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
  const { relay, clock, append, answerWith, left } = openRelay()
  relay.start()
  await clock.advance(0)
  expect(clock.waiting()).toBe(1)
  await relay.stop()
  expect(clock.waiting()).toBe(0)

  const second = openRelay()
  const sending = Promise.withResolvers<void>()
  second.watched.remove = () => sending.promise
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
  expect(await left()).toBe(1)
})
