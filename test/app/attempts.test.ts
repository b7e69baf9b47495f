import { expect, test } from 'vitest'
import { RetryLater } from '../../src/errors/index.ts'
import { note, openApp } from './open-app.ts'

test('a handler knows which attempt it is, and says itself when the next one is to come', async () => {
  const { app, handle, clock } = openApp()
  const attempts: [number, number][] = []
  const begunAt = clock.monotonicMs()
  app.on('note.created', { name: 'tag-note', transaction: 'own' }, (_, { attempt }) => {
    attempts.push([attempt, clock.monotonicMs() - begunAt])
    if (attempt < 3) throw new RetryLater(60_000)
  })
  await handle(note('m1'))
  await clock.advance(130_000)
  expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2, 3])
  expect((attempts[1] as [number, number])[1]).toBeGreaterThanOrEqual(60_000)
})
