import { expect, test } from 'vitest'
import { later, note, openApp, write } from './open-app.ts'

test('a duplicate that shares a part with a failing message does not run again', async () => {
  const { app, clock, handle, effects, eventsOf } = openApp()
  app.on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id.startsWith('poison')) throw new Error('poison')
  })
  await handle(note('m1'), note('poison 1'))
  // Part sizes grow back from one: soon a duplicate and a failing message share one.
  for (const round of [2, 3, 4, 5]) {
    await handle(note(`m${round}`))
    // Past the time for which the memory of recent commits answers instead of the store.
    await clock.advance(5_000)
    await handle(note('m1'), note(`poison ${round}`))
  }
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1, m4: 1, m5: 1 })
  expect(eventsOf('parked').map(({ key }) => key)).toEqual([1, 2, 3, 4, 5].map((round) => `poison ${round}`))
})

test('a duplicate among the messages of a failing batch handler does not run again', async () => {
  const { app, clock, handle, effects } = openApp()
  app.onBatch('note.created', { name: 'tag-notes', ...later }, (messages, { tx }) => {
    for (const { id } of messages) write(tx, id)
    if (messages.some(({ id }) => id.startsWith('poison'))) throw new Error('poison')
  })
  await handle(note('m1'))
  await clock.advance(5_000)
  await handle(note('m1'), note('poison'), note('m2'))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
})
