import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { note, openApp, write } from '../app/open-app.ts'

test("with unknownTypes: 'ignore' a message of another type is acknowledged, reported and not kept", async () => {
  const { app, handle, store, transport, effects, eventsOf } = openApp({ unknownTypes: 'ignore' })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), note('x1', { type: 'someone.elses' }), note('m2'))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(transport.settled()).toHaveLength(3)
  expect(await countParked(store)).toBe(0)
  expect(eventsOf('ignored')).toEqual([{ kind: 'ignored', messageId: 'x1', type: 'someone.elses' }])
})

test('whatever else is wrong with it, it is not ours to keep', async () => {
  const { app, handle, store, eventsOf } = openApp({ unknownTypes: 'ignore', maxBodyBytes: 10 })
  app.on('note.created', 'tag-note', () => {})
  await handle(
    { type: 'someone.elses', body: 'without an id' },
    note('x\0', { type: 'someone.elses' }),
    note('x1', { type: 'someone.elses', body: 'x'.repeat(100) }),
  )
  expect(await countParked(store)).toBe(0)
  expect(eventsOf('ignored')).toHaveLength(3)
})

test('a message without a type is kept all the same: nobody can say whose it is', async () => {
  const { app, handle, store } = openApp({ unknownTypes: 'ignore' })
  app.on('note.created', 'tag-note', () => {})
  await handle({ id: 'x1', body: {} })
  expect(await store.parking.list()).toMatchObject([{ reason: 'MESSAGE_TYPE_MISSING', messageId: 'x1' }])
})
