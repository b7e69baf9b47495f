import { expect, test } from 'vitest'
import { note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import { messages } from '../../app/messages.ts'
import type { StandardSchema } from './standard-schema.ts'

/** Answers for every body but that of the message `m1`. */
function answersFor(answer: boolean): StandardSchema {
  const validate = (value: unknown) =>
    answer || (value as { id?: string }).id !== 'm1' ? Promise.resolve({ value }) : new Promise<never>(() => {})
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

test.each([
  { whose: 'its type', ofType: answersFor(false), ofHandler: undefined, state: 'dead' },
  { whose: 'its handler', ofType: answersFor(true), ofHandler: answersFor(false), state: 'waiting' },
])('a message whose schema never answers, that of $whose, fails, and the others go on', async (given) => {
  const { on, handle, clock, store, effects } = openEngine({ messages: messages({ 'note.created': given.ofType }) })
  on('note.created', { name: 'tag-note', ...(given.ofHandler && { schema: given.ofHandler }) }, ({ id }, { tx }) =>
    write(tx, id),
  )
  const handling = handle(...['m1', 'm2'].map((id) => ({ ...note(id), body: { id } })))
  await clock.advance(30_000)
  await handling
  expect(effects()).toEqual({ m2: 1 })
  expect(await store.parking.list()).toMatchObject([
    { messageId: 'm1', state: given.state, reason: 'BODY_CHECK_FAILED' },
  ])
})
