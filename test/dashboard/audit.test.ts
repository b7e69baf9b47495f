import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock/index.ts'
import { keepAudit } from '../../src/operations/audit.ts'
import { openDashboard } from './fixture.ts'

test('an action on a thousand letters names the first ones and says how many more there are', async () => {
  const { get, store, app } = await openDashboard()
  const letters = Array.from({ length: 1_000 }, (_, n) => ({ handler: 'invoice', key: n === 0 ? 'o1' : `other-${n}` }))
  const entry = { action: 'discard', by: 'ana', why: 'obsolete', subject: { letters, filter: 'all' } } as const
  await store.transaction((tx) => keepAudit({ store, clock: systemClock }, tx, entry))

  const [{ subject }] = (await (await get('api/audit')).json()) as [{ subject: { letters: unknown[] } }]
  expect(subject).toEqual({ letters: [...letters.slice(0, 20), 'and 980 more'], filter: 'all' })
  const story = (await (await get('api/messages/story?id=o1')).json()) as { actions: unknown[] }
  expect(story.actions).toMatchObject([{ action: 'discard', by: 'ana', subject: { filter: 'all' } }])
  // Whoever needs all of them has them.
  expect(await app.operations.audit()).toMatchObject([{ subject: { letters } }])
})
