import { expect, test } from 'vitest'
import { operations } from '../../src/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { note, openApp } from '../app/open-app.ts'

const ana = { by: 'ana', why: 'it is back' }
const anHour = 3_600_000

/** Messages whose next attempt is an hour away, and a handler that is repaired meanwhile. */
async function waiting(...ids: readonly string[]) {
  const opened = openApp()
  const attempts: [string, number][] = []
  let isBroken = true
  opened.app.on(
    'note.created',
    { name: 'tag-note', retry: { backoff: () => anHour }, breaker: false },
    ({ id }, { attempt }) => {
      attempts.push([id, attempt])
      if (isBroken) throw new Error(`no "${id}"`)
    },
  )
  opened.app.on('note.created', 'count-note', () => {})
  await opened.handle(...ids.map((id) => note(id)))
  attempts.length = 0
  return {
    ...opened,
    attempts,
    repair: () => {
      isBroken = false
    },
    script: operations(opened.store),
  }
}

const retry = (key: string, handler = 'tag-note') => ({ handler, key })

test('what waits is listed, with its next attempt, its attempts and its errors', async () => {
  const { script, clock } = await waiting('m1', 'm2')
  const { retries, letters } = script
  const all = await retries.list()
  expect(all.map(({ handler, key, reason }) => [handler, key, reason]).sort()).toEqual([
    ['count-note', 'm1', 'WAITS_FOR_EARLIER_HANDLER'],
    ['count-note', 'm2', 'WAITS_FOR_EARLIER_HANDLER'],
    ['tag-note', 'm1', 'HANDLER_FAILED'],
    ['tag-note', 'm2', 'HANDLER_FAILED'],
  ])
  expect(await retries.get(retry('m1'))).toMatchObject({
    attempts: 1,
    begun: 0,
    nextAt: new Date(clock.now().getTime() + anHour),
    changedAt: clock.now(),
    errors: [{ message: expect.stringContaining('no "m1"') }],
    redrive: undefined,
  })
  expect((await retries.list({ errorText: 'no "m2"' })).map(({ key }) => key)).toEqual(['m2'])
  expect(await retries.list({ handler: 'another' })).toEqual([])
  expect(await retries.list({}, { limit: 1, after: all[2]?.sequence })).toEqual([all[3]])
  expect(await retries.get(retry('m3'))).toBeUndefined()
  expect(await letters.list()).toEqual([])
})

test('what is retried now runs now, its attempts counted on, and it is known who did it', async () => {
  const { app, script, attempts, repair, clock, store } = await waiting('m1', 'm2')
  repair()
  expect(await app.operations.retries.retryNow(retry('m1'), ana)).toBe(1)
  await clock.advance(0)
  expect(attempts).toEqual([['m1', 2]])
  expect(await script.retries.get(retry('m1'))).toBeUndefined()
  expect(await recordOf(store, retry('m1'))).toMatchObject({ state: 'processed' })
  expect(await script.retries.get(retry('m2'))).toMatchObject({ attempts: 1 })
  expect(await script.audit()).toMatchObject([{ action: 'retry', ...ana, subject: { retries: [retry('m1')] } }])
})

test('a script without an app makes it due, and the app finds it at its next look', async () => {
  const { script, attempts, repair, clock } = await waiting('m1', 'm2')
  repair()
  expect(await script.retries.retryNow({ handler: 'tag-note' }, ana)).toBe(2)
  await clock.advance(1_000)
  expect(attempts.sort()).toEqual([
    ['m1', 2],
    ['m2', 2],
  ])
  expect(await script.audit()).toMatchObject([{ action: 'retry', subject: { filter: { handler: 'tag-note' } } }])
})

test('dead letters, what is being tried, and what has changed meanwhile are left alone', async () => {
  const { script, store } = await waiting('m1', 'm2', 'm3')
  const rows = await store.parking.list({ handler: 'tag-note' })
  const row = (key: string) => rows.find((each) => each.key === key) as (typeof rows)[number]
  await store.transaction((tx) => store.parking.change(tx, [{ ...row('m1'), kind: 'dead', attempts: 1 }]))
  await store.parking.rebook([{ ...row('m2'), begun: 1 }], anHour)
  const { take } = store.parking
  Object.assign(store.parking, { take: async () => [false] })
  const before = await store.parking.list()
  expect(await script.retries.retryNow({ handler: 'tag-note' }, ana)).toBe(0)
  expect(await store.parking.list()).toEqual(before)
  expect(await script.audit()).toEqual([])
  Object.assign(store.parking, { take })
  expect(await script.retries.retryNow({ handler: 'tag-note' }, ana)).toBe(1)
  expect(await script.audit()).toMatchObject([{ subject: { retries: [retry('m3')] } }])
})

test('what a redrive has released is left to it: it would be counted as failed', async () => {
  const { script, store, app } = await waiting('m1')
  await app.stop()
  const [row] = await store.parking.list({ handler: 'tag-note' })
  await store.transaction((tx) =>
    store.parking.change(tx, [{ ...(row as NonNullable<typeof row>), kind: 'dead', attempts: 1 }]),
  )
  const { id } = await script.letters.redrive(retry('m1'), ana)
  await store.transaction((tx) => store.parking.edit(tx, { redrive: id }, { kind: 'release' }, 1))
  expect(await script.retries.get(retry('m1'))).toMatchObject({ redrive: id })
  expect(await script.retries.retryNow(retry('m1'), ana)).toBe(0)
  expect(await script.letters.redriveStatus(id)).toMatchObject({ untried: 1, failed: 0 })
})

test('an empty selection, an unknown field and a missing name are refused', async () => {
  const { script, store } = await waiting('m1')
  const { retries } = script
  const before = await store.parking.list()
  await expect(retries.retryNow({}, ana)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  await expect(retries.retryNow('all', { by: '' })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  await expect(retries.list({ handlr: 'a' } as object)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
  await expect(retries.list({}, { limit: 0 })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  expect(await store.parking.list()).toEqual(before)
})
