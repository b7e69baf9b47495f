import { expect, test } from 'vitest'
import { MemoryDatabase } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

const seconds = 1_000
const signed = { by: 'operator' }

function openWorld(ordered: { readonly whenDead?: 'block' | 'continue'; readonly mostBehind?: number } = {}) {
  const clock = fakeClock()
  const opened = openApp({ clock, database: new MemoryDatabase({ clock }) })
  const world = { ...opened, clock, isBroken: true }
  const options = { name: 'tag-note', ordered: { by: 'key', ...ordered }, retry: { attempts: 1 } } as const
  opened.app.on('note.created', options, ({ id }, { tx }) => {
    if (id === 'a1' && world.isBroken) throw new Error('no')
    write(tx, id)
  })
  return world
}

const ofA = (id: string) => note(id, { key: 'a' })

test('a dead letter that others wait behind is reported within seconds, again every ten minutes, and not after it was discarded', async () => {
  const { app, clock, handle, eventsOf, ...world } = openWorld()
  await handle()
  await clock.advance(10 * seconds)
  await handle(ofA('a1'), ofA('a2'))
  await clock.advance(0)
  const blocked = { handler: 'tag-note', orderKey: 'a', key: 'a1', isFull: false }
  expect(eventsOf('key-blocked')).toMatchObject([{ ...blocked, waiting: 1 }])
  await handle(ofA('a3'))
  await clock.advance(5 * 60 * seconds)
  expect(eventsOf('key-blocked')).toHaveLength(1)
  await clock.advance(10 * 60 * seconds)
  expect(eventsOf('key-blocked')).toMatchObject([
    { ...blocked, waiting: 1 },
    { ...blocked, waiting: 2 },
  ])
  await app.operations.letters.discard({ handler: 'tag-note', key: 'a1' }, signed)
  await clock.advance(60 * 60 * seconds)
  expect(eventsOf('key-blocked')).toHaveLength(2)
  expect(world.effects()).toEqual({ a2: 1, a3: 1 })
})

test('a message that waits for a retry, or lets others pass when it is dead, is no reason for a report', async () => {
  const { clock, handle, eventsOf } = openWorld({ whenDead: 'continue' })
  await handle(ofA('a1'), ofA('a2'))
  await clock.advance(5 * 60 * seconds)
  expect(eventsOf('key-blocked')).toEqual([])
})

test('as soon as one of the key is handled again, no more of its messages become dead letters', async () => {
  const world = openWorld({ mostBehind: 1 })
  const { app, clock, handle, eventsOf } = world
  await handle(ofA('a1'), ofA('a2'))
  await clock.advance(60 * seconds)
  expect(eventsOf('key-blocked').at(-1)).toMatchObject({ waiting: 1, isFull: true })
  await handle(ofA('a3'))
  const reasons = async () => (await app.operations.letters.list()).map(({ key, reason }) => [key, reason])
  expect(await reasons()).toEqual([
    ['a1', 'HANDLER_FAILED'],
    ['a3', 'TOO_MANY_BEHIND'],
  ])
  world.isBroken = false
  await app.operations.letters.redrive({ handler: 'tag-note', key: 'a1' }, signed)
  await clock.advance(2 * seconds)
  await handle(ofA('a4'))
  expect(await reasons()).toEqual([['a3', 'TOO_MANY_BEHIND']])
  await app.operations.letters.redrive('all', signed)
  await clock.advance(2 * seconds)
  expect(world.effects()).toEqual({ a1: 1, a2: 1, a3: 1, a4: 1 })
})
