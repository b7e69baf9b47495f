import { describe, expect, test } from 'vitest'
import type { StoreTrouble } from '../../src/contracts/index.ts'
import { JustonceError } from '../../src/index.ts'
import { MemoryDatabase, memoryStore } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { note, openApp } from './open-app.ts'

/** An app whose store is away until the test brings it back. */
function openAway(
  error: unknown = new JustonceError('STORE_UNREACHABLE', { message: 'Nobody answers.' }),
  trouble: StoreTrouble = 'unavailable',
) {
  const clock = fakeClock()
  const real = memoryStore({ database: new MemoryDatabase({ clock }) })
  let isAway = true
  let looks = 0
  const install = async () => {
    looks++
    if (isAway) throw error
    await real.schema.install()
  }
  const store = {
    ...real,
    schema: { ...real.schema, install },
    classify: (each: unknown) => (each === error ? trouble : real.classify(each)),
  }
  const opened = openApp({ clock, store })
  opened.app.on('note.created', 'tag-note', () => {})
  return {
    ...opened,
    looks: () => looks,
    comeBack: () => {
      isAway = false
    },
  }
}

test('a store that is away at the start is waited for, and it is said', async () => {
  const { app, clock, transport, events, looks, comeBack } = openAway()
  transport.send(note('m1'))
  let isStarted = false
  const started = app.start().then(() => {
    isStarted = true
  })
  await clock.advance(60_000)
  expect(isStarted).toBe(false)
  expect(events.map(({ kind }) => kind)).toEqual(['store-down'])
  // Not as fast as it can.
  expect(looks()).toBeLessThan(60)
  comeBack()
  await clock.advance(6_000)
  await started
  await transport.idle()
  expect(events.map(({ kind }) => kind).slice(0, 2)).toEqual(['store-down', 'store-up'])
  expect(transport.settled()).toHaveLength(1)
})

test('so is one whose tables somebody has locked: a backup, or a process that is frozen', async () => {
  const { app, clock, transport, events, comeBack } = openAway(new Error('Lock wait timeout exceeded'), 'conflict')
  transport.send(note('m1'))
  const started = app.start()
  await clock.advance(60_000)
  comeBack()
  await clock.advance(6_000)
  await started
  await transport.idle()
  expect(events.map(({ kind }) => kind).slice(0, 2)).toEqual(['store-down', 'store-up'])
  expect(transport.settled()).toHaveLength(1)
})

test('only as long as one likes', async () => {
  const { app, clock, comeBack, transport } = openAway()
  const started = app.start({ withinMs: 10_000 })
  const failure = expect(started).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' })
  await clock.advance(10_000)
  await failure
  comeBack()
  await app.start()
  transport.send(note('m1'))
  await transport.idle()
})

test('who is stopped while waiting never starts', async () => {
  const { app, clock, comeBack, transport } = openAway()
  const started = app.start()
  await clock.advance(1_000)
  await app.stop()
  await started
  comeBack()
  transport.send(note('m1'))
  await clock.advance(60_000)
  expect(transport.pending()).toHaveLength(1)
  expect(clock.waiting()).toBe(0)
})

test('a store that was closed is not waited for', async () => {
  const { app } = openAway(new JustonceError('STORE_CLOSED', { message: 'The store is closed.' }))
  await expect(app.start()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

describe('waitFor brokers', () => {
  /** An app whose transport reaches its broker, or is refused by it, when the test says so. */
  function openUnreached() {
    const transport = memoryTransport()
    const reached = Promise.withResolvers<void>()
    const wrapped = {
      ...transport,
      async *deliveries(options: Parameters<typeof transport.deliveries>[0]) {
        const gone = new Promise((resolve) => options.signal.addEventListener('abort', resolve))
        await Promise.race([reached.promise, gone])
        yield* transport.deliveries(options)
      },
    }
    const opened = openApp({ transport, wrapped })
    opened.app.on('note.created', 'tag-note', () => {})
    return { ...opened, reach: reached.resolve, refuse: reached.reject }
  }

  async function isPending(promise: Promise<unknown>, clock: { advance(ms: number): Promise<void> }): Promise<boolean> {
    let isOver = false
    promise.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    await clock.advance(60_000)
    return !isOver
  }

  test('resolves when they were reached, and not before', async () => {
    const { app, clock, reach } = openUnreached()
    const started = app.start({ waitFor: 'brokers' })
    expect(await isPending(started, clock)).toBe(true)
    reach()
    await started
  })

  test('without it nobody waits for them', async () => {
    const { app } = openUnreached()
    await app.start()
  })

  test('one that is not reached in time is named, and trying goes on', async () => {
    const { app, clock, reach, transport } = openUnreached()
    const started = app.start({ waitFor: 'brokers', withinMs: 10_000 })
    const refused = expect(started).rejects.toMatchObject({
      code: 'BROKER_UNREACHABLE',
      message: expect.stringContaining('start() has waited for memory in vain'),
    })
    await clock.advance(10_000)
    await refused
    reach()
    transport.send(note('m1'))
    await transport.idle()
    expect(transport.settled()).toHaveLength(1)
  })

  test('one that refuses us is not waited for', async () => {
    const { app, refuse } = openUnreached()
    const started = app.start({ waitFor: 'brokers' })
    refuse(new JustonceError('BROKER_REFUSED', { message: 'Wrong password.' }))
    await expect(started).rejects.toMatchObject({ code: 'BROKER_REFUSED' })
  })

  test('who is stopped while waiting waits no longer', async () => {
    const { app, clock } = openUnreached()
    const started = app.start({ waitFor: 'brokers' })
    expect(await isPending(started, clock)).toBe(true)
    await app.stop()
    await started
  })

  test('nothing else can be waited for', async () => {
    const { app } = openUnreached()
    await expect(app.start({ waitFor: 'broker' as never })).rejects.toThrow(
      'waitFor of start() is "broker". Did you mean brokers?',
    )
  })
})
