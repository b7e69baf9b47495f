import { channel } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import type { JustonceEvent } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { later, note, openApp, write } from './open-app.ts'

test('every end of a message can be seen, on the app and on the diagnostics channel', async () => {
  const { app, handle, clock, events } = openApp()
  const published: unknown[] = []
  const listener = (event: unknown) => void published.push(event)
  channel('justonce').subscribe(listener)
  onTestFinished(() => void channel('justonce').unsubscribe(listener))
  app.on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id === 'broken') throw new Error('broken')
  })
  await handle(note('m1'))
  await handle(note('m1'))
  await clock.advance(5_000)
  await handle(note('m1'))
  await handle(note('broken'))
  await handle(note('unknown', { type: 'no.such.type' }))
  const told = events.map((event) => {
    const { kind, ...rest } = event as JustonceEvent & Record<string, unknown>
    return [kind, rest.reason ?? rest.from ?? rest.key ?? rest.handled ?? rest.failed]
  })
  expect(told).toEqual([
    ['called', false],
    ['processed', 'm1'],
    ['batch', 1],
    ['duplicate', 'cache'],
    ['batch', 1],
    ['duplicate', 'store'],
    ['batch', 1],
    ['called', true],
    ['rolled-back', 'failure'],
    ['parked', 'HANDLER_FAILED'],
    ['batch', 1],
    ['parked', 'TYPE_UNKNOWN'],
    ['batch', 1],
  ])
  expect(published).toEqual(events)
})

test('a listener that throws is ignored, others hear all, and one that has left hears nothing', async () => {
  const { app, handle, effects } = openApp()
  const heard: string[] = []
  app.events.listen(() => {
    throw new Error('listener')
  })
  app.events.listen(({ kind }) => void heard.push(kind))
  const leave = app.events.listen(() => expect.unreachable())
  leave()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  expect(heard).toEqual(['called', 'processed', 'batch'])
  expect(effects()).toEqual({ m1: 1 })
})

test('an acknowledgement that fails is reported, and what comes again is a duplicate', async () => {
  const transport = memoryTransport()
  const error = new Error('channel closed')
  let failures = 1
  const wrapped = {
    ...transport,
    async settle(...given: Parameters<typeof transport.settle>) {
      if (failures-- > 0) {
        // As a broker does that has lost the connection.
        await transport.settle(given[0], { kind: 'release' })
        throw error
      }
      await transport.settle(...given)
    },
  }
  const { app, handle, effects, eventsOf } = openApp({ transport, wrapped })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  expect(eventsOf('settle-failed')).toEqual([{ kind: 'settle-failed', error, deliveries: 1 }])
  expect(eventsOf('duplicate')).toHaveLength(1)
  expect(effects()).toEqual({ m1: 1 })
})

test('a transport whose stream breaks is reported, and read again a little later', async () => {
  const transport = memoryTransport()
  const error = new Error('stream broke')
  let failures = 2
  const wrapped = {
    ...transport,
    deliveries(options: Parameters<typeof transport.deliveries>[0]) {
      if (failures-- > 0) throw error
      return transport.deliveries(options)
    },
  }
  const { app, clock, effects, eventsOf } = openApp({ transport, wrapped })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  transport.send(note('m1'))
  await app.start()
  await clock.advance(5_000)
  expect(effects()).toEqual({ m1: 1 })
  expect(eventsOf('loop-failed')).toEqual([
    { kind: 'loop-failed', loop: 'intake of memory', error },
    { kind: 'loop-failed', loop: 'intake of memory', error },
  ])
})
