import { expect, test } from 'vitest'
import { note, openApp, write } from '../../test/app/open-app.ts'
import { ana, letter, once, withLetters } from '../../test/app/open-letters.ts'
import { parkedMessage, recordOf } from '../testing/sample-records.ts'

test('a letter that cannot be read hides neither itself nor the others', async () => {
  const { app, store, repair, rounds } = await withLetters(['m1'])
  const garbage = new TextEncoder().encode('{"id":"m9","headers":7')
  await store.transaction((tx) =>
    store.parking.park(tx, [
      parkedMessage('m9', { state: 'dead', message: { envelope: garbage, body: garbage }, errors: 'no JSON' }),
    ]),
  )
  const letters = await app.operations.letters.list()
  expect(letters.map(({ key }) => key)).toEqual(['m1', 'm9'])
  expect(letters[1]).toMatchObject({ headers: {}, body: '{"id":"m9","headers":7', errors: [{ message: 'no JSON' }] })
  expect(await app.operations.letters.get(letter('m9'))).toBeDefined()
  expect(await app.operations.letters.preview('all')).toMatchObject({ letters: 2 })
  // Nor does it stop the retries of others.
  repair()
  await app.operations.letters.redrive('all', ana)
  await rounds()
  expect((await app.operations.letters.redrives())[0]?.state).toBe('finished')
  expect(await store.parking.list()).toMatchObject([{ key: 'm9', state: 'dead' }])
})

test('a letter shows all that is known of it', async () => {
  const { app, handle, clock } = openApp()
  app.on('note.created', 'count-note', ({ id }, { tx }) => write(tx, id))
  app.on('note.created', { name: 'tag-note', ...once, ordered: { by: 'key' } }, () => {
    throw new Error('no tag 17')
  })
  await handle(note('m1', { key: 'k', headers: { trace: 't1' }, body: { a: [1] } }))
  const [first, ...others] = await app.operations.letters.list()
  expect(others).toEqual([])
  const { errors, ...rest } = first ?? { errors: [] }
  expect(errors).toHaveLength(1)
  expect(errors[0]?.at).toEqual(clock.now())
  expect(errors[0]?.message).toContain('Error: no tag 17')
  expect(rest).toEqual({
    handler: 'tag-note',
    key: 'm1',
    sequence: expect.any(Number),
    messageId: 'm1',
    type: 'note.created',
    source: expect.any(String),
    reason: 'HANDLER_FAILED',
    attempts: 1,
    parkedAt: clock.now(),
    diedAt: clock.now(),
    headers: { trace: 't1' },
    body: { a: [1] },
    orderKey: 'k',
    group: { handler: 'tag-note', reason: 'HANDLER_FAILED', shape: 'Error: no tag #' },
    redrive: undefined,
    edited: false,
  })
  expect(await app.operations.letters.get(letter('m1'))).toEqual(first)
})

test.each([
  ['JSON', '{"a":1}', { a: 1 }],
  ['text', 'a, 1', 'a, 1'],
  ['bytes', Uint8Array.of(0xff, 0xfe), Uint8Array.of(0xff, 0xfe)],
])('a body that is %s', async (_, sent, shown) => {
  const { app, handle } = openApp()
  app.on('another', 'tag-note', () => {})
  const body = typeof sent === 'string' ? new TextEncoder().encode(sent) : sent
  await handle(note('m1', { body }))
  expect(await app.operations.letters.list()).toMatchObject([{ handler: '-', reason: 'TYPE_UNKNOWN', body: shown }])
})

test('what waits or is not there is no dead letter', async () => {
  const { letters, store } = await withLetters(['m1'])
  expect(await letters.get(letter('m2'))).toBeUndefined()
  expect(await letters.get(letter('m1', 'another'))).toBeUndefined()
  await letters.redrive('all', ana)
  await store.transaction((tx) => store.parking.edit(tx, {}, { kind: 'release' }, 1))
  expect(await letters.get(letter('m1'))).toBeUndefined()
  expect(await letters.list()).toEqual([])
})

test('lists come in pages, and by every field of a filter', async () => {
  const { letters, clock, handle } = await withLetters(['m1', 'm2'])
  const before = clock.now()
  await clock.advance(5_000)
  await handle({ id: 'x', type: 'unknown', body: {}, headers: {} })
  const keys = async (...given: Parameters<typeof letters.list>) =>
    (await letters.list(...given)).map(({ messageId }) => messageId)
  expect(await keys()).toEqual(['m1', 'm2', 'x'])
  const [first] = await letters.list({}, { limit: 1 })
  expect(first?.key).toBe('m1')
  expect(await keys({}, { limit: 1, after: first?.sequence })).toEqual(['m2'])
  expect(await keys({ handler: '-' })).toEqual(['x'])
  expect(await keys({ type: 'note.created' })).toEqual(['m1', 'm2'])
  expect(await keys({ reason: 'TYPE_UNKNOWN' })).toEqual(['x'])
  expect(await keys({ errorText: 'no "m2"' })).toEqual(['m2'])
  expect(await keys({ since: clock.now() })).toEqual(['x'])
  expect(await keys({ before: clock.now(), since: before })).toEqual(['m1', 'm2'])
  expect(await keys({ key: 'm1' })).toEqual(['m1'])
  expect(await keys({ messageId: 'm2', handler: undefined })).toEqual(['m2'])
  expect(await keys({ orderKey: 'k' })).toEqual([])
  expect(await keys({ source: 'nowhere' })).toEqual([])
  const [group] = await letters.groups()
  expect(await keys({ group: group as NonNullable<typeof group> })).toEqual(['m1', 'm2'])
})

test('large letters come a few at a time, and all of them are previewed and discarded', async () => {
  const { letters, handle } = await withLetters([])
  const ids = ['m1', 'm2', 'm3', 'm4', 'm5']
  for (const id of ids) await handle({ id, type: 'unknown', body: 'x'.repeat(6_000_000), headers: {} })
  const listed = await letters.list()
  expect(listed.map(({ messageId }) => messageId)).toEqual(['m1', 'm2', 'm3'])
  const rest = await letters.list({}, { after: listed.at(-1)?.sequence })
  expect(rest.map(({ messageId }) => messageId)).toEqual(['m4', 'm5'])
  expect(await letters.preview('all')).toMatchObject({ letters: 5 })
  expect(await letters.preview([...listed, ...rest])).toMatchObject({ letters: 5 })
  expect(await letters.discard([...listed, ...rest], ana)).toBe(5)
})

test('groups are counted and keep their notes, and who wrote them is known', async () => {
  const { app, letters, clock } = await withLetters(['m1', 'm2'])
  const group = { handler: 'tag-note', reason: 'HANDLER_FAILED', shape: 'Error: no "…"' }
  const [counted] = await letters.groups()
  expect(counted).toEqual({ ...group, count: 2, firstAt: clock.now(), lastAt: clock.now(), note: undefined })
  await letters.annotate(counted as typeof group, 'see the ticket', { by: 'ana', why: 'on call' })
  expect(await letters.groups({ handler: 'tag-note' }, 1)).toMatchObject([{ note: 'see the ticket' }])
  expect(await letters.groups({ handler: 'another' })).toEqual([])
  expect(await app.operations.audit()).toEqual([
    {
      action: 'annotate',
      by: 'ana',
      why: 'on call',
      at: clock.now(),
      subject: { ...group, note: 'see the ticket' },
    },
  ])
})

test('another message under a key that was used is not taken for one that was handled', async () => {
  const { app, handle } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await handle(note('m1', { body: 'another' }))
  expect(await app.operations.letters.list()).toMatchObject([{ reason: 'KEY_REUSED' }])
  const nothing = { wouldRun: {}, alreadyDone: {}, tooOld: 0, expired: 0 }
  expect(await app.operations.letters.preview('all')).toEqual({ letters: 1, ...nothing })
})

test('discarded letters are gone, their copies are duplicates, and it is known who did it', async () => {
  const { app, letters, handle, repair, runs, store, clock, dead } = await withLetters(['m1', 'm2', 'm3'])
  repair()
  expect(await letters.discard(letter('m1'), { by: 'ana', why: 'a test' })).toBe(1)
  expect(await recordOf(store, letter('m1'))).toMatchObject({ state: 'discarded' })
  expect(await app.operations.audit()).toEqual([
    { action: 'discard', by: 'ana', why: 'a test', at: clock.now(), subject: { letters: [letter('m1')] } },
  ])
  await handle(note('m1'))
  expect(runs).toEqual([])
  expect(await letters.discard({ type: 'note.created' }, ana)).toBe(2)
  expect((await app.operations.audit(1))[0]?.subject).toEqual({
    letters: [letter('m2'), letter('m3')],
    filter: { type: 'note.created' },
  })
  expect(await dead()).toEqual([])
})

test('a handler without records can have its letters discarded', async () => {
  const { app, handle, store } = openApp()
  app.on('note.created', { name: 'tag-note', delivery: 'at-least-once', ...once }, () => {
    throw new Error('no')
  })
  await handle(note('m1'))
  expect(await app.operations.letters.discard('all', ana)).toBe(1)
  expect(await recordOf(store, letter('m1'))).toBeUndefined()
})

test('a record that is forgotten lets the message run again, and it is known who did it', async () => {
  const { app, handle, effects, clock } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), note('m1'))
  expect(await app.operations.records.forget(letter('m1'), { by: 'ana', why: 'restored' })).toBe(true)
  await handle(note('m1'))
  expect(effects()).toEqual({ m1: 2 })
  expect(await app.operations.audit()).toEqual([
    { action: 'forget', by: 'ana', why: 'restored', at: clock.now(), subject: letter('m1') },
  ])
  expect(await app.operations.records.forget(letter('nothing'), ana)).toBe(false)
  expect(await app.operations.audit()).toHaveLength(1)
})

test('which handlers are done is known by what was received, and by the names they had then', async () => {
  const first = openApp()
  const failing = { name: 'tag-note', ...once } as const
  first.app.on('note.created', { name: 'old', identify: ({ body }) => (body as { no: string }).no }, () => {})
  first.app.on('note.created', failing, () => {
    throw new Error('no')
  })
  await first.handle(note('m1', { body: { no: '7' } }))
  await first.app.stop()
  const { app } = openApp({ store: first.store, clock: first.clock })
  app.on(
    'note.created',
    { name: 'new', formerly: ['old'], identify: ({ body }) => (body as { no: string }).no },
    () => {},
  )
  app.on('note.created', failing, () => {})
  const { letters } = app.operations
  expect(await letters.preview(letter('m1'))).toMatchObject({ alreadyDone: { new: 1 } })
  const { id } = await letters.redrive(letter('m1'), { ...ana, body: { no: '8' } })
  await letters.stopRedrive(id, ana)
  expect(await letters.get(letter('m1'))).toMatchObject({ body: { no: '8' }, originalBody: { no: '7' } })
  expect(await letters.preview(letter('m1'))).toMatchObject({ alreadyDone: { new: 1 } })
})

test('a letter that reached no handler has expired when it has for all of them', async () => {
  const { app, handle, clock } = openApp()
  app.on('note.created', { name: 'in-time', expires: { afterMs: 1_000 } }, () => {})
  app.on('note.created', { name: 'any-time', expires: { afterMs: 60_000 } }, () => {})
  await handle(note('m1', { body: new TextEncoder().encode('no JSON'), sentAt: clock.now() }))
  await clock.advance(30_000)
  expect(await app.operations.letters.preview('all')).toMatchObject({ letters: 1, expired: 0 })
  await clock.advance(31_000)
  expect(await app.operations.letters.preview('all')).toMatchObject({ letters: 1, expired: 1 })
})
