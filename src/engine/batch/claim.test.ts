import { expect, test } from 'vitest'
import { note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import { MemoryDatabase } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { recordOf } from '../../testing/sample-records.ts'
import type { DeliveryMode, Handler } from '../handler.ts'
import type { Run } from '../items.ts'
import { claimRequests, isRecorded } from './claim.ts'

function run(key: string, name: string, { delivery = 'exactly-once' as DeliveryMode, formerly = [] as string[] } = {}) {
  return {
    key,
    fingerprint: Uint8Array.of(1),
    handler: { name, delivery, formerly } as unknown as Handler,
    origin: {},
  } as Run<unknown>
}
const show = (runs: Run<unknown>[]) => claimRequests(runs).map(({ handler, key }) => `${handler} ${key}`)

test('they are sorted by handler and key, so that two batches never wait for each other in a circle', () => {
  expect(show([run('2', 'b'), run('1', 'b'), run('2', 'a'), run('10', 'a'), run('B', 'a')])).toEqual([
    'a 10',
    'a 2',
    'a B',
    'b 1',
    'b 2',
  ])
})

test('a renamed handler claims under all its names', () => {
  expect(show([run('1', 'new', { formerly: ['old', 'older'] })])).toEqual(['new 1', 'old 1', 'older 1'])
})

test('an at-least-once handler claims nothing', () => {
  expect(show([run('1', 'a', { delivery: 'at-least-once' }), run('1', 'b', { delivery: 'at-most-once' })])).toEqual([
    'b 1',
  ])
  expect(isRecorded(run('1', 'a', { delivery: 'at-least-once' }))).toBe(false)
})

test('each request goes with its run and its fingerprint', () => {
  const one = run('1', 'a')
  expect(claimRequests([one])).toEqual([{ handler: 'a', key: '1', fingerprint: one.fingerprint, run: one }])
})

test('a copy that is skipped as too old changes no record, also none that was committed a moment after the look', async () => {
  const first = openEngine({ ids: 'uuidv7' })
  const { clock, database, store } = first
  const claim: typeof store.inbox.claim = async (_, requests) => ({
    epoch: '0',
    existing: requests.map(() => undefined),
    tooOld: new Set(requests.keys()),
  })
  const overtaken = { ...store, inbox: { ...store.inbox, claim } }
  const second = openEngine({ clock, database, store: overtaken, retention: { days: 1, tooOld: 'skip' } })
  for (const { on } of [first, second]) on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await first.handle(note('m1'))
  await second.handle(note('m1'))
  expect(second.eventsOf('expired').map(({ key }) => key)).toEqual(['m1'])
  expect((await recordOf(store, { handler: 'tag-note', key: 'm1' }))?.state).toBe('processed')
})

test('while processes with the old and the new name of a handler run together, one of them does the work', async () => {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const before = openEngine({ clock, database })
  before.on('note.created', 'label-note', ({ id }, { tx }) => write(tx, id))
  const after = openEngine({ clock, database })
  after.on('note.created', { name: 'tag-note', formerly: ['label-note'] }, ({ id }, { tx }) => write(tx, id))
  await before.handle(note('m1'))
  await after.handle(note('m1'), note('m2'))
  await before.handle(note('m2'))
  expect(after.effects()).toEqual({ m1: 1, m2: 1 })
})
