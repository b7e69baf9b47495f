import { expect, test } from 'vitest'
import { operations } from '../../src/index.ts'
import { MemoryDatabase } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from '../app/open-app.ts'

const ana = { by: 'ana', why: 'the mail server is down' } as const

test('a pause holds in every process within a heartbeat, also after a restart, until somebody resumes', async () => {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const open = () => {
    const opened = openApp({ clock, database })
    opened.app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
    return opened
  }
  const [first, second] = [open(), open()]
  await first.app.start()
  await second.app.start()
  await clock.advance(0)
  const { handlers, audit } = operations(first.store, { clock })
  expect(await handlers.pause('tag-note', ana)).toBe(true)
  expect(await handlers.pause('tag-note', ana)).toBe(false)
  await clock.advance(5_000)
  expect(await handlers.list()).toMatchObject([
    { name: 'tag-note', paused: { ...ana, since: new Date(clock.now().getTime() - 5_000) } },
  ])
  for (const { transport } of [first, second]) transport.send([note(`of ${transport === first.transport}`)])
  await clock.advance(10_000)
  expect(first.effects()).toEqual({})
  await first.app.stop()
  const restarted = open()
  restarted.transport.send([note('after the restart')])
  await restarted.app.start()
  await clock.advance(10_000)
  expect(first.effects()).toEqual({})
  expect((await handlers.list())[0]?.processes.map(({ paused }) => paused)).toEqual(['operator', 'operator'])
  expect(await handlers.resume('tag-note', { by: 'ben' })).toBe(true)
  expect(await handlers.resume('tag-note', { by: 'ben' })).toBe(false)
  await clock.advance(10_000)
  expect(first.effects()).toEqual({ 'of false': 1, 'after the restart': 1 })
  expect((await audit()).map(({ action, by, subject }) => [action, by, subject])).toEqual([
    ['resume', 'ben', { handler: 'tag-note' }],
    ['pause', 'ana', { handler: 'tag-note' }],
  ])
})

test('an app obeys at once what is paused through its own operations', async () => {
  const { app, transport, clock, effects } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await app.start()
  await clock.advance(1)
  await app.operations.handlers.pause('tag-note', ana)
  await clock.advance(1)
  transport.send([note('m1')])
  await clock.advance(1_000)
  expect(effects()).toEqual({})
})

test('what an operator has paused is not resumed by the code of the app, nor the other way round', async () => {
  const { app, transport, clock, effects } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  app.pause('tag-note')
  await app.start()
  await app.operations.handlers.pause('tag-note', ana)
  await clock.advance(5_000)
  transport.send([note('m1')])
  app.resume('tag-note')
  await clock.advance(5_000)
  expect(effects()).toEqual({})
  app.pause('tag-note')
  await app.operations.handlers.resume('tag-note', ana)
  await clock.advance(5_000)
  expect(effects()).toEqual({})
  app.resume('tag-note')
  await clock.advance(5_000)
  expect(effects()).toEqual({ m1: 1 })
})

test('a pause under a former name of a handler is one of the handler', async () => {
  const { app, transport, clock, effects, store } = openApp()
  app.on('note.created', { name: 'tag-note', formerly: ['tag'] }, ({ id }, { tx }) => write(tx, id))
  await operations(store, { clock }).handlers.pause('tag', ana)
  transport.send([note('m1')])
  await app.start()
  await clock.advance(5_000)
  expect(effects()).toEqual({})
})

test('a name that no running process has is refused, because it would pause nothing', async () => {
  const { app, clock } = openApp()
  app.on('note.created', 'tag-note', () => {})
  await app.start()
  await clock.advance(0)
  await expect(app.operations.handlers.pause('tag-not', ana)).rejects.toThrow(
    'No process that is running has a handler "tag-not". They have: tag-note.',
  )
  await expect(app.operations.handlers.pause('', ana)).rejects.toThrow('1 to 300 characters')
  await expect(app.operations.handlers.pause('tag-note', { by: '' })).rejects.toThrow('who does it')
})

test('an app does not take a message before it knows what is paused', async () => {
  const { app, transport, clock, effects, store } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await operations(store, { clock }).handlers.pause('tag-note', ana)
  const { list } = store.facts
  const slow: typeof list = async (kind, limit) => {
    await clock.sleep(1_000)
    return await list(kind, limit)
  }
  Object.assign(store.facts, { list: slow })
  transport.send([note('m1')])
  const started = app.start()
  await clock.advance(1_000)
  await started
  Object.assign(store.facts, { list })
  await clock.advance(1_000)
  expect(effects()).toEqual({})
})
