import { expect, test } from 'vitest'
import { MemoryDatabase } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

const minuteMs = 60_000
const signed = { by: 'operator' }

function openWorld() {
  const clock = fakeClock()
  return { clock, database: new MemoryDatabase({ clock }) }
}

type World = ReturnType<typeof openWorld>

async function minutesPass({ clock }: World, minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed++) await clock.advance(minuteMs)
}

/** An app with one handler, which writes its name and the message's. */
function openOne(world: World, type: string, name: string, fails: () => boolean = () => false) {
  const opened = openApp(world)
  const retry = { attempts: 3, backoff: () => minuteMs }
  opened.app.on(type, { name, retry, breaker: false }, ({ id }, { tx }) => {
    if (fails()) throw new Error('no')
    write(tx, `${type} ${id}`)
  })
  return opened
}

test('a letter that reached no handler waits for the app that has one, however long the other one looks', async () => {
  const world = openWorld()
  const notes = openOne(world, 'note.created', 'tag-note')
  await notes.handle(note('o1', { type: 'order.paid' }))
  const { id } = await notes.app.operations.letters.redrive({ reason: 'TYPE_UNKNOWN' }, signed)
  await minutesPass(world, 3)
  expect(await notes.app.operations.letters.list()).toEqual([])
  const orders = openOne(world, 'order.paid', 'write-invoice')
  await orders.app.start()
  await minutesPass(world, 1)
  expect(orders.effects()).toEqual({ 'order.paid o1': 1 })
  expect(await notes.app.operations.letters.redriveStatus(id)).toMatchObject({ state: 'finished', succeeded: 1 })
})

test('a letter whose type no running app takes is reported, and becomes a dead letter again', async () => {
  const world = openWorld()
  const notes = openOne(world, 'note.created', 'tag-note')
  await notes.handle(note('o1', { type: 'order.paid' }))
  await notes.app.operations.letters.redrive({ reason: 'TYPE_UNKNOWN' }, signed)
  await minutesPass(world, 4)
  expect(notes.eventsOf('handlers-unknown')).toMatchObject([{ waiting: { '- (order.paid)': 1 } }])
  await minutesPass(world, 10)
  expect(await notes.app.operations.letters.list()).toMatchObject([{ handler: '-', reason: 'TYPE_UNKNOWN' }])
})

test('a letter without a type is refused again at once, by any app', async () => {
  const world = openWorld()
  const notes = openOne(world, 'note.created', 'tag-note')
  await notes.handle(note('n1', { type: '' }))
  const { id } = await notes.app.operations.letters.redrive({ reason: 'MESSAGE_TYPE_MISSING' }, signed)
  await world.clock.advance(5_000)
  expect(await notes.app.operations.letters.redriveStatus(id)).toMatchObject({ state: 'finished', failed: 1 })
})

test('two apps whose handlers share a name, but not a type, leave the messages of the other alone, and say so', async () => {
  const world = openWorld()
  let isDown = true
  const notes = openOne(world, 'note.created', 'send-mail')
  const orders = openOne(world, 'order.paid', 'send-mail', () => isDown)
  await notes.app.start()
  await orders.handle(note('o1', { type: 'order.paid' }))
  await world.clock.advance(0)
  expect(await orders.store.parking.list()).toMatchObject([{ attempts: 1, reason: 'HANDLER_FAILED' }])
  isDown = false
  await minutesPass(world, 3)
  expect(orders.effects()).toEqual({ 'order.paid o1': 1 })
  expect(notes.eventsOf('parked')).toEqual([])
})

test('a name that two running apps share for messages of different types is reported', async () => {
  const world = openWorld()
  const notes = openOne(world, 'note.created', 'send-mail')
  const orders = openApp(world)
  const retry = { attempts: 1_000, backoff: () => 2 * minuteMs }
  orders.app.on('order.paid', { name: 'send-mail', retry, breaker: false }, () => {
    throw new Error('no')
  })
  await orders.handle(note('o1', { type: 'order.paid' }))
  await notes.app.start()
  await minutesPass(world, 10)
  expect(notes.eventsOf('warning').filter(({ code }) => code === 'HANDLER_NAME_SHARED')).toHaveLength(1)
  expect(orders.eventsOf('warning').filter(({ code }) => code === 'HANDLER_NAME_SHARED')).toHaveLength(0)
  expect(await notes.app.operations.letters.list()).toEqual([])
})

test('of an order key that two apps share, each takes only messages of its own type, in the order of all', async () => {
  const world = openWorld()
  let isDown = true
  const ran: string[] = []
  const open = (type: string) => {
    const opened = openApp(world)
    const retry = { attempts: 3, backoff: () => minuteMs }
    opened.app.on(type, { name: 'send-mail', ordered: { by: 'key' }, retry, breaker: false }, ({ id }) => {
      if (isDown) throw new Error('no')
      ran.push(id)
    })
    return opened
  }
  const notes = open('note.created')
  const orders = open('order.paid')
  await notes.handle(note('n1', { key: 'k' }))
  await orders.handle(note('o1', { type: 'order.paid', key: 'k' }))
  await notes.handle(note('n2', { key: 'k' }))
  isDown = false
  await minutesPass(world, 5)
  expect(ran).toEqual(['n1', 'o1', 'n2'])
  const refused = [...notes.eventsOf('parked'), ...orders.eventsOf('parked')].map(({ reason }) => reason)
  expect(refused).not.toContain('TYPE_UNKNOWN')
})
