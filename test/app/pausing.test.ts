import { expect, test } from 'vitest'
import { note, openApp, write } from './open-app.ts'

test('a paused handler gets nothing while others go on, and everything once it is resumed', async () => {
  const { app, transport, clock, effects, eventsOf } = openApp()
  const attempts: number[] = []
  app.on('note.created', 'tag-note', ({ id }, { tx, attempt }) => {
    attempts.push(attempt)
    write(tx, id)
  })
  app.on('note.removed', 'drop-note', ({ id }, { tx }) => write(tx, id))
  app.pause('tag-note')
  transport.send([note('m1'), note('m2'), note('m3', { type: 'note.removed' })])
  await app.start()
  await clock.advance(60_000)
  expect(effects()).toEqual({ m3: 1 })
  expect(eventsOf('parked').filter(({ state }) => state === 'dead')).toEqual([])
  app.resume('tag-note')
  await clock.advance(5_000)
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
  expect(attempts).toEqual([1, 1])
})

test('a paused handler does not hold up the handlers before it, and what waits for it is not lost', async () => {
  const { app, transport, clock, effects } = openApp()
  app.on('note.created', 'first', ({ id }, { tx }) => write(tx, `first ${id}`))
  app.on('note.created', 'second', ({ id }, { tx }) => write(tx, `second ${id}`))
  app.pause('second')
  transport.send([note('m1')])
  await app.start()
  await clock.advance(10_000)
  expect(effects()).toEqual({ 'first m1': 1 })
  app.resume('second')
  await clock.advance(5_000)
  expect(effects()).toEqual({ 'first m1': 1, 'second m1': 1 })
})

test('a paused handler is not given its retries either', async () => {
  const { app, transport, clock, effects } = openApp()
  let isBroken = true
  app.on('note.created', { name: 'tag-note', retry: { backoff: () => 1_000 } }, ({ id }, { tx }) => {
    if (isBroken) throw new Error('no')
    write(tx, id)
  })
  transport.send([note('m1')])
  await app.start()
  await clock.advance(0)
  app.pause('tag-note')
  isBroken = false
  await clock.advance(30_000)
  expect(effects()).toEqual({})
  app.resume('tag-note')
  await clock.advance(2_000)
  expect(effects()).toEqual({ m1: 1 })
})

test('only a handler that there is can be paused or resumed', () => {
  const { app } = openApp()
  app.on('note.created', 'tag-note', () => {})
  const text = 'There is no handler "tag". Handlers: tag-note.'
  expect(() => app.pause('tag')).toThrow(text)
  expect(() => app.resume('tag')).toThrow(text)
})
