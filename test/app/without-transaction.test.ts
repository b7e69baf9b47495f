import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { later, note, openApp } from './open-app.ts'

const outside = { delivery: 'at-least-once', transaction: 'none' } as const

/** The same as `openApp`, and how many transactions are open now and were opened so far. */
function openCounted(options: Parameters<typeof openApp>[0] = {}) {
  const opened = openApp(options)
  const { store } = opened
  const count = { open: 0, all: 0 }
  const transaction = store.transaction.bind(store)
  Object.assign(store, {
    transaction: async (...given: Parameters<typeof transaction>) => {
      count.open++
      count.all++
      try {
        return await transaction(...given)
      } finally {
        count.open--
      }
    },
  })
  return { ...opened, count }
}

test('no transaction: none is open while it runs, and a message that has nothing to store needs none at all', async () => {
  const { app, handle, count, eventsOf, transport } = openCounted()
  const seen: unknown[] = []
  app.on('note.created', { name: 'refresh', ...outside }, ({ id }, context) => {
    seen.push([id, 'tx' in context && context.tx !== undefined, count.open, transport.settled().length])
  })
  // This starts the app, which needs transactions of its own.
  await handle(note('m1'))
  const before = count.all
  await handle(note('m1'))
  // A copy runs again, and each is acknowledged only after its call.
  expect(seen).toEqual([
    ['m1', false, 0, 0],
    ['m1', false, 0, 1],
  ])
  expect(count.all).toBe(before)
  expect(transport.settled()).toHaveLength(2)
  expect(eventsOf('processed').map(({ handler }) => handler)).toEqual(['refresh', 'refresh'])
})

test('no transaction: what it publishes is stored when it has returned, under the same id each time', async () => {
  const { app, handle } = openApp()
  const ids: string[] = []
  const chained: string[] = []
  let hooks = 0
  app.on('note.created', { name: 'refresh', ...outside }, async (_, { publish, afterCommit }) => {
    ids.push(await publish('note.refreshed', {}))
    afterCommit(() => void hooks++)
  })
  app.on('note.refreshed', 'count', ({ id }) => void chained.push(id))
  await handle(note('m1'))
  await handle(note('m1'))
  expect(ids[0]).toBe(ids[1])
  expect(chained).toEqual([ids[0]])
  expect(hooks).toBe(2)
})

test('no transaction: a failure is parked, publishes nothing, and is tried again', async () => {
  const { app, handle, store, clock } = openCounted()
  let calls = 0
  const chained: string[] = []
  app.on(
    'note.created',
    { name: 'refresh', ...outside, retry: { attempts: 3, backoff: () => 1_000 } },
    async ({ id }, { publish, attempt }) => {
      calls++
      await publish('note.refreshed', {})
      if (attempt < 3) throw new Error(`not yet ${id}`)
    },
  )
  app.on('note.refreshed', 'count', ({ id }) => void chained.push(id))
  await handle(note('m1'))
  expect(calls).toBe(1)
  expect(await countParked(store)).toBe(1)
  expect(chained).toEqual([])
  await clock.advance(10_000)
  expect(calls).toBe(3)
  expect(await countParked(store)).toBe(0)
  expect(chained).toHaveLength(1)
})

test('no transaction: the last attempt makes a dead letter', async () => {
  const { app, handle, store, clock } = openApp()
  const retry = { attempts: 2, backoff: () => 1_000 }
  app.on('note.created', { name: 'refresh', ...outside, retry }, () => {
    throw new Error('no')
  })
  await handle(note('m1'))
  await clock.advance(10_000)
  expect(await app.operations.letters.list({ handler: 'refresh' })).toMatchObject([{ key: 'm1', attempts: 2 }])
  expect(await countParked(store)).toBe(1)
})

test('no transaction: one that takes too long is parked, and what it publishes then is refused', async () => {
  const { app, transport, clock, eventsOf } = openApp()
  const chained: string[] = []
  app.on('note.created', { name: 'refresh', ...outside, ...later, timeoutMs: 100 }, async (_, { publish }) => {
    await clock.sleep(1_000)
    await publish('note.refreshed', {})
  })
  app.on('note.refreshed', 'count', ({ id }) => void chained.push(id))
  await app.start()
  transport.send(note('m1'))
  await clock.advance(2_000)
  expect(eventsOf('parked')).toMatchObject([{ handler: 'refresh', reason: 'HANDLER_TIMEOUT', attempts: 1 }])
  expect(eventsOf('late-call')).toMatchObject([{ handler: 'refresh' }])
  expect(chained).toEqual([])
})

test('no transaction: retries that are slow, and those behind them, run in one process at a time', async () => {
  const first = openApp()
  const { clock, database } = first
  const second = openApp({ clock, database })
  const open = new Map<string, number>()
  let most = 0
  for (const { app } of [first, second])
    app.on(
      'note.created',
      { name: 'refresh', ...outside, retry: { backoff: () => 1_000 } },
      async ({ id }, { attempt }) => {
        if (attempt === 1) throw new Error('not yet')
        open.set(id, (open.get(id) ?? 0) + 1)
        most = Math.max(most, ...open.values())
        await clock.sleep(20_000)
        open.set(id, (open.get(id) ?? 0) - 1)
      },
    )
  await second.app.start()
  await first.handle(note('m1'), note('m2'), note('m3'))
  await clock.advance(200_000)
  expect(most).toBe(1)
  expect(open.size).toBe(3)
  expect(await countParked(first.store)).toBe(0)
})

test('no transaction: a retry counts as begun for as long as it runs, so that a message which kills its process is found', async () => {
  const { app, handle, store, clock } = openApp()
  app.on('note.created', { name: 'refresh', ...outside, retry: { backoff: () => 1_000 } }, async (_, { attempt }) => {
    if (attempt === 1) throw new Error('not yet')
    await clock.sleep(20_000)
  })
  await handle(note('m1'))
  for (const ms of [2_000, 4_000, 10_000]) {
    await clock.advance(ms)
    expect(await store.parking.list()).toMatchObject([{ key: 'm1', begun: 1 }])
  }
  await clock.advance(20_000)
  expect(await countParked(store)).toBe(0)
})

test('no transaction: what an operator discards while it waits behind another retry is not called', async () => {
  const { app, handle, clock } = openApp()
  const called: string[] = []
  app.on(
    'note.created',
    { name: 'refresh', ...outside, retry: { backoff: () => 1_000 } },
    async ({ id }, { attempt }) => {
      if (attempt === 1) throw new Error('not yet')
      called.push(id)
      await clock.sleep(20_000)
    },
  )
  await handle(note('m1'), note('m2'))
  await clock.advance(5_000)
  expect(called).toHaveLength(1)
  const waiting = called[0] === 'm1' ? 'm2' : 'm1'
  await app.operations.retries.discard([{ handler: 'refresh', key: waiting }], { by: 'ana' })
  await clock.advance(100_000)
  expect(called).toHaveLength(1)
})

test('no transaction, at most once: it runs after the acknowledgement, with no transaction open', async () => {
  const { app, handle, store, count, transport } = openCounted()
  const seen: unknown[] = []
  app.on('note.created', { name: 'ping', delivery: 'at-most-once', transaction: 'none' }, () => {
    seen.push([transport.settled().length, count.open])
  })
  await handle(note('m1'))
  await handle(note('m1'))
  expect(seen).toEqual([[1, 0]])
  expect(await recordOf(store, { handler: 'ping', key: 'm1' })).toMatchObject({ state: 'processed' })
})

test('no transaction: other handlers of the message keep theirs, and those behind a failure wait for it', async () => {
  const { app, handle, clock } = openApp()
  const seen: string[] = []
  let isBroken = true
  app.on('note.created', 'exactly', (_, { tx }) => void seen.push(`first ${tx !== undefined}`))
  app.on('note.created', { name: 'refresh', ...outside, retry: { backoff: () => 1_000 } }, () => {
    if (isBroken) throw new Error('not yet')
    seen.push('refresh')
  })
  app.on('note.created', 'last', () => void seen.push('last'))
  await handle(note('m1'))
  expect(seen).toEqual(['first true'])
  isBroken = false
  await clock.advance(10_000)
  expect(seen).toEqual(['first true', 'refresh', 'last'])
})

test('no transaction: beforeEach has nothing to prepare', async () => {
  const prepared: string[] = []
  const { app, handle } = openApp({ beforeEach: ({ type }) => void prepared.push(type) })
  app.on('note.created', { name: 'refresh', ...outside }, () => {})
  app.on('note.tagged', 'count', () => {})
  await handle(note('m1'), { ...note('m2'), type: 'note.tagged' })
  expect(prepared).toEqual(['note.tagged'])
})

test.each([
  [{ transaction: 'none' }, `delivery: 'exactly-once'`],
  [{ ...outside, ordered: { by: 'key' } }, 'ordered'],
  [{ ...outside, interleave: true }, `transaction: 'none'`],
])('no transaction: %o is refused', (options, what) => {
  const { app } = openApp()
  const register = () => app.on('note.created', { name: 'refresh', ...options } as never, () => {})
  expect(register).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(what) }))
})

test('no transaction: not for batch handlers', () => {
  const { app } = openApp()
  expect(() => app.onBatch('note.created', { name: 'refresh', ...outside } as never, () => {})).toThrow('onBatch')
})
