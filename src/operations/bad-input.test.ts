import { expect, test } from 'vitest'
import { note, openApp } from '../../test/app/open-app.ts'
import { ana, letter, once, withLetters } from '../../test/app/open-letters.ts'
import type { ErrorCode, LetterFilter, LetterSelection, RedriveOptions, WhoAndWhy } from '../index.ts'
import { isJustonceError } from '../index.ts'
import { recordOf } from '../testing/sample-records.ts'
import { listRedrives } from './redrives.ts'

async function codeOf(work: Promise<unknown>): Promise<ErrorCode | undefined> {
  try {
    await work
  } catch (error) {
    if (isJustonceError(error)) return error.code
    throw error
  }
  return undefined
}

/** Two dead letters that nothing may happen to. */
async function untouched() {
  const opened = await withLetters(['m1', 'm2'])
  const before = await opened.store.parking.list()
  return {
    ...opened,
    async expectNothingDone() {
      expect(await opened.store.parking.list()).toEqual(before)
      expect(await opened.app.operations.audit()).toEqual([])
      expect(await opened.letters.redrives()).toEqual([])
      expect(await recordOf(opened.store, letter('m1'))).toMatchObject({ state: 'parked' })
    },
  }
}

const selections: readonly [unknown, ErrorCode][] = [
  [letter('gone'), 'LETTERS_NONE_FOUND'],
  [letter('m1', 'another'), 'LETTERS_NONE_FOUND'],
  [[letter('m1'), letter('gone')], 'LETTERS_NONE_FOUND'],
  [[], 'LETTERS_NONE_FOUND'],
  [{ type: 'another' }, 'LETTERS_NONE_FOUND'],
  [{}, 'OPTION_INVALID'],
  [{ handler: undefined }, 'OPTION_INVALID'],
  [undefined, 'OPTION_INVALID'],
  [null, 'OPTION_INVALID'],
  ['everything', 'OPTION_INVALID'],
  [[null], 'OPTION_INVALID'],
  [['m1'], 'OPTION_INVALID'],
  [[{ handler: 'tag-note' }], 'OPTION_INVALID'],
  [{ handlr: 'tag-note' }, 'OPTION_UNKNOWN'],
  [{ handler: 'tag-note', state: 'waiting' }, 'OPTION_UNKNOWN'],
  [{ handler: 5 }, 'OPTION_INVALID'],
  [{ errorText: 'a\0' }, 'OPTION_INVALID'],
  [{ key: '\ud800' }, 'OPTION_INVALID'],
  [{ since: '2030-01-01' }, 'OPTION_INVALID'],
  [{ before: new Date(Number.NaN) }, 'OPTION_INVALID'],
  [{ group: { handler: 'tag-note' } }, 'OPTION_INVALID'],
  [{ group: null }, 'OPTION_INVALID'],
  [{ handler: 'a', group: { handler: 'b', reason: 'c', shape: 'd' } }, 'OPTION_INVALID'],
  [Array.from({ length: 10_001 }, (_, index) => letter(`m${index}`)), 'OPTION_INVALID'],
]

test.each(selections)('the selection %j is refused with %s', async (given, code) => {
  const { letters, expectNothingDone } = await untouched()
  const selection = given as LetterSelection
  expect(await codeOf(letters.redrive(selection, ana))).toBe(code)
  expect(await codeOf(letters.discard(selection, ana))).toBe(code)
  await expectNothingDone()
})

const whoAndWhys: readonly unknown[] = [
  {},
  { by: '' },
  { by: '  ' },
  { by: 5 },
  { by: 'x'.repeat(201) },
  { by: 'ana', why: 5 },
  { by: 'ana', why: 'x'.repeat(2_001) },
  undefined,
]

test.each(whoAndWhys)('who and why as %j is refused wherever it is wanted', async (given) => {
  const { app, letters, store } = await withLetters(['m1'])
  const whoAndWhy = given as WhoAndWhy
  await app.stop()
  const { id } = await letters.redrive('all', ana)
  const before = [await store.parking.list(), await app.operations.audit()]
  const group = { handler: 'tag-note', reason: 'HANDLER_FAILED', shape: '' }
  for (const work of [
    () => letters.redrive('all', whoAndWhy),
    () => letters.discard('all', whoAndWhy),
    () => letters.annotate(group, 'a note', whoAndWhy),
    () => letters.stopRedrive(id, whoAndWhy),
    () => app.operations.records.forget(letter('m1'), whoAndWhy),
  ])
    expect(await codeOf(work())).toBe('OPTION_INVALID')
  expect([await store.parking.list(), await app.operations.audit()]).toEqual(before)
  expect((await letters.redriveStatus(id)).state).toBe('running')
})

const settings: readonly [Partial<Record<keyof RedriveOptions | 'rate', unknown>>, ErrorCode][] = [
  [{ canary: -1 }, 'OPTION_INVALID'],
  [{ canary: Number.NaN }, 'OPTION_INVALID'],
  [{ canary: 1.5 }, 'OPTION_INVALID'],
  [{ canary: '1' }, 'OPTION_INVALID'],
  [{ perSecond: -1 }, 'OPTION_INVALID'],
  [{ perSecond: 0 }, 'OPTION_INVALID'],
  [{ perSecond: Number.NaN }, 'OPTION_INVALID'],
  [{ perSecond: Number.POSITIVE_INFINITY }, 'OPTION_INVALID'],
  [{ stopAfterFailures: -1 }, 'OPTION_INVALID'],
  [{ stopAfterFailures: Number.NaN }, 'OPTION_INVALID'],
  [{ stopAfterFailures: 1e10 }, 'OPTION_INVALID'],
  [{ rate: 5 }, 'OPTION_UNKNOWN'],
]

test.each(settings)('a redrive with %j is refused with %s', async (given, code) => {
  const { letters, expectNothingDone } = await untouched()
  expect(await codeOf(letters.redrive('all', { ...ana, ...given } as RedriveOptions))).toBe(code)
  await expectNothingDone()
})

test.each([
  [{ colour: 'red' }, 'OPTION_UNKNOWN'],
  [[], 'OPTION_INVALID'],
] as const)('the filter %j is refused by every list', async (given, code) => {
  const { letters } = await untouched()
  const filter = given as LetterFilter
  expect(await codeOf(letters.list(filter))).toBe(code)
  expect(await codeOf(letters.groups(filter))).toBe(code)
})

test('limits and places that are none are refused', async () => {
  const { app, letters } = await untouched()
  for (const limit of [0, -1, 1.5, 1_001, Number.NaN]) {
    expect(await codeOf(letters.list({}, { limit }))).toBe('OPTION_INVALID')
    expect(await codeOf(letters.groups({}, limit))).toBe('OPTION_INVALID')
    expect(await codeOf(letters.redrives(limit))).toBe('OPTION_INVALID')
    expect(await codeOf(app.operations.audit(limit))).toBe('OPTION_INVALID')
  }
  expect(await codeOf(letters.list({}, { after: -1 }))).toBe('OPTION_INVALID')
  expect(await codeOf(letters.list({}, { page: 1 } as object))).toBe('OPTION_UNKNOWN')
})

test('what is in a running redrive is refused where it is named, and left out where it is not', async () => {
  const { app, letters, dead } = await withLetters(['m1', 'm2'])
  await app.stop()
  await letters.redrive(letter('m1'), ana)
  expect(await codeOf(letters.redrive(letter('m1'), ana))).toBe('REDRIVE_RUNNING')
  expect(await codeOf(letters.redrive([letter('m2'), letter('m1')], ana))).toBe('REDRIVE_RUNNING')
  expect(await codeOf(letters.discard(letter('m1'), ana))).toBe('REDRIVE_RUNNING')
  expect(await codeOf(letters.redrive({ key: 'm1' }, ana))).toBe('LETTERS_NONE_FOUND')
  expect(await codeOf(letters.discard({ key: 'm1' }, ana))).toBe('LETTERS_NONE_FOUND')
  expect(await app.operations.audit()).toHaveLength(1)
  expect(await letters.discard('all', ana)).toBe(1)
  expect(await dead()).toEqual(['m1'])
})

test('what waits for an attempt is refused where it is named, and left out where it is not', async () => {
  const { app, handle, store } = openApp()
  app.on('note.created', { name: 'tag-note', retry: { backoff: () => 3_600_000 } }, () => {
    throw new Error('no')
  })
  await handle(note('m1'))
  const { letters } = app.operations
  expect(await codeOf(letters.redrive(letter('m1'), ana))).toBe('LETTER_NOT_DEAD')
  expect(await codeOf(letters.discard(letter('m1'), ana))).toBe('LETTER_NOT_DEAD')
  expect(await codeOf(letters.preview(letter('m1')))).toBe('LETTER_NOT_DEAD')
  expect(await codeOf(letters.redrive('all', ana))).toBe('LETTERS_NONE_FOUND')
  expect(await codeOf(letters.discard('all', ana))).toBe('LETTERS_NONE_FOUND')
  expect(await codeOf(app.operations.records.forget(letter('m1'), ana))).toBe('RECORD_PARKED')
  expect(await recordOf(store, letter('m1'))).toMatchObject({ state: 'parked' })
  expect(await app.operations.audit()).toEqual([])
})

test('a letter whose expiry has passed is refused where it is the only one', async () => {
  const { app, handle, clock, store } = openApp()
  app.on('note.created', { name: 'tag-note', ...once }, () => {
    throw new Error('no')
  })
  await handle(note('m1', { expiresAt: new Date(clock.now().getTime() + 1_000) }))
  await clock.advance(2_000)
  expect(await codeOf(app.operations.letters.redrive(letter('m1'), ana))).toBe('REDRIVE_EXPIRED')
  expect(await listRedrives(store, 1)).toEqual([])
})

test('an edit that cannot be handled is refused, and nothing of it is stored', async () => {
  const { app, handle, store } = openApp()
  const wantsText = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof (value as { text?: unknown }).text === 'string' ? { value } : { issues: [{ message: 'no text' }] },
    },
  } as const
  app.on('note.created', { name: 'tag-note', schema: wantsText, ...once }, () => {})
  app.on('order', { name: 'bill', identify: ({ body }) => (body as { no: string }).no, ...once }, () => {
    throw new Error('no')
  })
  await handle(note('m1', { body: {} }), note('m2', { body: {} }), note('o1', { type: 'order', body: { no: '7' } }))
  const before = await store.parking.list()
  const edits: readonly [LetterSelection, unknown][] = [
    [letter('m1'), { text: 5 }],
    [letter('m1'), new TextEncoder().encode('no JSON')],
    [letter('m1'), 5n],
    [letter('m1'), () => {}],
    [letter('7', 'bill'), { no: '8' }],
    [[letter('m1'), letter('m2')], { text: 'a' }],
    [{ key: 'm1' }, { text: 'a' }],
    ['all', { text: 'a' }],
  ]
  for (const [selection, body] of edits)
    expect(await codeOf(app.operations.letters.redrive(selection, { ...ana, body }))).toBe('EDIT_INVALID')
  expect(await store.parking.list()).toEqual(before)
  expect(await app.operations.audit()).toEqual([])
  expect(await listRedrives(store, 1)).toEqual([])
})

test('a redrive that nobody knows', async () => {
  const { letters, expectNothingDone } = await untouched()
  expect(await codeOf(letters.redriveStatus('r1'))).toBe('REDRIVE_UNKNOWN')
  expect(await codeOf(letters.stopRedrive('r1', ana))).toBe('REDRIVE_UNKNOWN')
  await expectNothingDone()
})

test('a letter that is lost between the look and the transaction is not half of a redrive', async () => {
  const { letters, store, dead, app } = await withLetters(['m1', 'm2'])
  const { edit } = store.parking
  Object.assign(store.parking, {
    edit: async (...[tx, filter, what, limit]: Parameters<typeof edit>) => {
      // As if another had discarded it a moment ago.
      await edit(tx, { key: 'm2' }, { kind: 'remove' }, 1)
      return await edit(tx, filter, what, limit)
    },
  })
  expect(await codeOf(letters.redrive([letter('m1'), letter('m2')], ana))).toBe('LETTER_NOT_DEAD')
  expect(await dead()).toEqual(['m1', 'm2'])
  expect(await app.operations.audit()).toEqual([])
  expect(await listRedrives(store, 1)).toEqual([])
})

test('a letter that is lost between the look and the transaction undoes the discarding of the others', async () => {
  const { letters, store, dead, app } = await withLetters(['m1', 'm2'])
  const { edit } = store.parking
  Object.assign(store.parking, {
    // As if another held the second one.
    edit: (...[tx, _, what, limit]: Parameters<typeof edit>) => edit(tx, { key: 'm1' }, what, limit),
  })
  expect(await codeOf(letters.discard([letter('m1'), letter('m2')], ana))).toBe('LETTER_NOT_DEAD')
  expect(await dead()).toEqual(['m1', 'm2'])
  expect(await recordOf(store, letter('m1'))).toMatchObject({ state: 'parked' })
  expect(await app.operations.audit()).toEqual([])
})
