import { expect, test } from 'vitest'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { type AlertNotice, type AlertOptions, none, PermanentError, type Publisher } from '../../src/index.ts'
import { MemoryDatabase } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { note, type OpenAppOptions, openApp } from './open-app.ts'

const minute = 60_000

/** An app with one rule, and what it was told so far. */
function openWatching(rule: Omit<AlertOptions, 'notify'>, options: OpenAppOptions = {}) {
  const notices: AlertNotice[] = []
  const notify = (notice: AlertNotice): void => void notices.push(notice)
  const opened = openApp({ name: 'notes', log: false, alerts: [{ ...rule, notify }], ...options })
  const told = (): readonly string[] => notices.map(({ when, state }) => `${when} ${state}`)
  return { ...opened, notices, told }
}

test('lag: a message has been in a queue of the store for too long', async () => {
  const { app, store, clock, told, notices } = openWatching({ when: 'lag', over: 5 * minute }, { only: 'maintenance' })
  const message = { id: 'm1', type: 'note.created', body: Uint8Array.of(1), headers: {}, sentAt: clock.now() }
  await store.schema.install()
  await store.queue.send(undefined, 'notes', [toQueue({ ...message, key: undefined })])
  await app.start()
  await clock.advance(4 * minute)
  expect(told()).toEqual([])
  await clock.advance(2 * minute)
  expect(told()).toEqual(['lag firing'])
  expect(notices[0]?.value).toBeGreaterThan(5 * minute)
})

test('outgoing-stuck: a published message is not sent, until it is', async () => {
  let isAway = true
  const to: Publisher = {
    destination: 'events',
    async publish(messages) {
      if (isAway) throw new Error('away')
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  const transport = memoryTransport()
  const rule = { when: 'outgoing-stuck', over: minute } as const
  const { app, store, clock, told } = openWatching(rule, { from: transport, to })
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  await store.transaction((tx) => app.publish('note.tagged', {}, { tx, id: 'm1' }))
  await clock.advance(3 * minute)
  expect(told()).toEqual(['outgoing-stuck firing'])
  isAway = false
  await clock.advance(10 * minute)
  expect(told()).toEqual(['outgoing-stuck firing', 'outgoing-stuck resolved'])
})

test('unknown-intents: somebody must say whether a call has happened', async () => {
  const { app, store, clock, told } = openWatching(
    { when: 'unknown-intents', over: 0 },
    { only: ['intents', 'maintenance'] },
  )
  app.effect('courier.book', {
    run() {
      throw new Error('socket hang up')
    },
  })
  await app.start()
  await store.transaction((tx) => app.intend('courier.book', {}, { tx, key: 'order-1' }))
  await clock.advance(minute)
  expect(told()).toEqual(['unknown-intents firing'])
  await app.operations.intents.resolve({ effect: 'courier.book', key: 'order-1' }, { as: 'done' }, { by: 'ana' })
  await clock.advance(minute)
  expect(told()).toEqual(['unknown-intents firing', 'unknown-intents resolved'])
})

test('broker-lag: so many messages wait at a broker, as far as it tells', async () => {
  let waiting = 900
  const transport = memoryTransport()
  const wrapped = { ...transport, inspect: async () => ({ waiting, warnings: [] }) }
  const { app, clock, told, notices } = openWatching({ when: 'broker-lag', over: 1_000 }, { transport, wrapped })
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  await clock.advance(minute)
  expect(told()).toEqual([])
  waiting = 1_200
  await clock.advance(minute)
  expect(told()).toEqual(['broker-lag firing'])
  expect(notices[0]?.value).toBe(1_200)
})

test('oldest-waiting: a message has waited for long for another attempt', async () => {
  const { app, handle, clock, told } = openWatching({ when: 'oldest-waiting', over: 10 * minute })
  app.on('note.created', { name: 'tag-note', retry: { backoff: () => 30 * minute } }, () => {
    throw new Error('no stock')
  })
  await handle(note('m1'))
  await clock.advance(9 * minute)
  expect(told()).toEqual([])
  await clock.advance(2 * minute)
  expect(told()).toEqual(['oldest-waiting firing'])
})

test('oldest-waiting: a dead letter that is redriven begins to wait then, and hides nothing that has waited for longer', async () => {
  const { app, handle, clock, told, notices } = openWatching({ when: 'oldest-waiting', over: 10 * minute })
  const retry = { backoff: () => 60 * minute }
  let isFixed = false
  app.on('note.created', { name: 'tag-note', retry, breaker: false }, ({ id }) => {
    throw isFixed ? new Error('no stock') : new PermanentError(`no note ${id}`)
  })
  app.on('note.removed', { name: 'drop-note', retry, breaker: false }, () => {
    throw new Error('locked')
  })
  await handle(note('m1'))
  await clock.advance(40 * minute)
  await handle({ ...note('m2'), type: 'note.removed' })
  await clock.advance(5 * minute)
  isFixed = true
  await app.operations.letters.redrive('all', { by: 'ana' })
  await clock.advance(4 * minute)
  expect(await app.operations.retries.list()).toMatchObject([{ key: 'm1', attempts: 1 }, { key: 'm2' }])
  expect(told()).toEqual([])
  await clock.advance(2 * minute)
  expect(told()).toEqual(['oldest-waiting firing'])
  expect(notices[0]?.value).toBeLessThan(11 * minute)
  await app.operations.retries.discard({ key: 'm2' }, { by: 'ana' })
  await clock.advance(minute)
  expect(told()).toEqual(['oldest-waiting firing', 'oldest-waiting resolved'])
  await clock.advance(5 * minute)
  expect(told().at(-1)).toBe('oldest-waiting firing')
  expect(notices.at(-1)?.value).toBeLessThan(13 * minute)
})

test('processes-missing: those of another app on the same store are not its own', async () => {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const others = [openApp({ name: 'billing', database, clock }), openApp({ name: 'billing', database, clock })]
  for (const { app } of others) {
    app.on('bill.sent', 'keep-bill', () => {})
    await app.start()
  }
  const rule = { when: 'processes-missing', over: 0, least: 2 } as const
  const watching = openWatching(rule, { database, clock })
  watching.app.on('note.created', 'tag-note', () => {})
  await watching.app.start()
  await clock.advance(minute)
  expect(watching.told()).toEqual(['processes-missing firing'])
  expect(watching.notices[0]?.value).toBe(1)
  const second = openApp({ name: 'notes', database, clock })
  second.app.on('note.created', 'tag-note', () => {})
  await second.app.start()
  await clock.advance(minute)
  expect(watching.told()).toEqual(['processes-missing firing', 'processes-missing resolved'])
})

test.each(['failure-rate', 'duplicate-rate'] as const)('%s: a share of the last minutes, of enough', async (when) => {
  const { app, handle, clock, told, notices } = openWatching({ when, over: 0.3 })
  app.on('note.created', { name: 'tag-note', retry: { backoff: none, attempts: 1 }, breaker: false }, ({ id }) => {
    if (when === 'failure-rate' && id.startsWith('bad')) throw new Error('no')
  })
  const again = (n: number): string => (when === 'failure-rate' ? `bad ${n}` : `m${n}`)
  const send = async (first: number, count: number): Promise<void> => {
    await handle(...Array.from({ length: count }, (_, n) => note(`m${first + n}`)))
    await handle(...Array.from({ length: count }, (_, n) => note(again(first + n))))
  }
  await send(0, 9)
  await clock.advance(minute)
  expect(told()).toEqual([])
  await send(100, 6)
  await clock.advance(minute)
  expect(told()).toEqual([`${when} firing`])
  expect(notices[0]?.value).toBe(0.5)
})
