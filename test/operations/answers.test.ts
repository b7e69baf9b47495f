import { expect, test } from 'vitest'
import { operations } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'
import { parkedMessage } from '../../src/testing/sample-records.ts'
import { note, openApp, write } from '../app/open-app.ts'
import { letter, once, withLetters } from '../app/open-letters.ts'

const ana = { by: 'ana' }

test('a store that cannot do it says so with a rejection, never at the call', async () => {
  const none = { queue: undefined }
  const { letters, retries, outgoing, records } = operations(Object.assign(memoryStore(), none))
  const asked: readonly (() => Promise<unknown>)[] = [() => outgoing.waiting()]
  for (const ask of asked) {
    const answer = ask()
    await expect(answer).rejects.toMatchObject({ code: 'STORE_CANNOT' })
  }
  expect(await letters.list()).toEqual([])
  expect(await letters.preview('all')).toMatchObject({ letters: 0 })
  expect(await retries.list()).toEqual([])
  expect(await records.find(letter('m1'))).toBeUndefined()
})

test('what is no argument at all is a rejection, too', async () => {
  const { letters, records } = operations(memoryStore())
  for (const ask of [
    () => letters.get(undefined as never),
    () => letters.annotate(undefined as never, 'a note', ana),
    () => letters.preview(undefined as never),
    () => letters.redrive('all', undefined as never),
    () => records.find(undefined as never),
    () => records.forget(null as never, ana),
  ]) {
    const answer = ask()
    await expect(answer).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  }
})

test.each(['{}', '5', 'null', '[null]', '[{"at":1}]', 'no JSON'])(
  'a letter with the error history %s and an unreadable envelope hides no other',
  async (errors) => {
    const { store } = await withLetters(['m1'])
    const envelope = new TextEncoder().encode('null')
    const message = { envelope, body: Uint8Array.of(0xff) }
    await store.transaction((tx) =>
      store.parking.park(tx, [
        parkedMessage('m8', { state: 'dead', message, errors }),
        parkedMessage('m9', { state: 'waiting', message, errors }),
      ]),
    )
    const { letters, retries } = operations(store)
    expect((await letters.list()).map(({ key }) => key)).toEqual(['m1', 'm8'])
    expect(await letters.list({ key: 'm8' })).toMatchObject([{ headers: {}, errors: [{ message: errors }] }])
    expect(await retries.list()).toMatchObject([{ key: 'm9', errors: [{ message: errors }] }])
    expect(await letters.preview('all')).toMatchObject({ letters: 2 })
  },
)

test('reading runs nothing of the handlers', async () => {
  const { app, handle } = openApp()
  let asked = 0
  const identify = ({ id }: { id: string }) => {
    asked++
    return id
  }
  app.on('note.created', { name: 'tag-note', identify, ...once }, () => {
    throw new Error('no')
  })
  await handle(note('m1'))
  const before = asked
  expect(await app.operations.letters.list()).toHaveLength(1)
  expect(await app.operations.letters.get(letter('m1'))).toBeDefined()
  expect(await app.operations.retries.list()).toEqual([])
  expect(asked).toBe(before)
  expect(await app.operations.letters.preview('all')).toMatchObject({ wouldRun: { 'tag-note': 1 } })
  expect(asked).toBeGreaterThan(before)
})

test('without handlers, a letter that reached none is counted as such, and one of a used key not at all', async () => {
  const { app, handle, store, clock } = openApp()
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'))
  await handle(note('m1', { body: 'another' }), note('m2', { type: 'unknown' }))
  const { letters, records } = operations(store, { clock })
  expect(await letters.preview('all')).toMatchObject({ letters: 2, wouldRun: { '-': 1 }, alreadyDone: undefined })
  await records.forget(letter('m1'), ana)
  expect(await letters.preview('all')).toMatchObject({ letters: 2, wouldRun: { '-': 1, 'tag-note': 1 } })
})

test('without handlers, a letter has expired when its message says so', async () => {
  const { app, handle, store, clock } = openApp()
  app.on('note.created', { name: 'tag-note', ...once }, () => {
    throw new Error('no')
  })
  await handle(note('m1', { expiresAt: new Date(clock.now().getTime() + 1_000) }), note('m2'))
  const { letters } = operations(store, { clock })
  expect(await letters.preview('all')).toMatchObject({ expired: 0, wouldRun: { 'tag-note': 2 } })
  await clock.advance(2_000)
  expect(await letters.preview('all')).toMatchObject({ expired: 1, wouldRun: { 'tag-note': 1 } })
  await expect(letters.redrive(letter('m1'), ana)).rejects.toMatchObject({ code: 'REDRIVE_EXPIRED' })
})

test('an audit entry that cannot be read is text, and hides no other', async () => {
  const store = memoryStore()
  const { letters, audit } = operations(store)
  await store.facts.change(undefined, [{ name: 'audit 0', from: undefined, value: '{"letters":', forMs: undefined }])
  await letters.annotate({ handler: 'a', reason: 'b', shape: 'c' }, 'a note', ana)
  expect((await audit()).map(({ by, subject }) => ({ by, subject }))).toEqual([
    { by: 'ana', subject: { handler: 'a', reason: 'b', shape: 'c', note: 'a note' } },
    { by: '', subject: '{"letters":' },
  ])
})

test('a redrive that cannot be read hides no other', async () => {
  const { app, letters, store } = await withLetters(['m1'])
  await app.stop()
  await store.facts.change(undefined, [{ name: 'redrive r1', from: undefined, value: '{"by":', forMs: undefined }])
  const { id } = await letters.redrive('all', ana)
  expect((await letters.redrives()).map((each) => each.id)).toEqual([id])
  await expect(letters.redriveStatus('r1')).rejects.toMatchObject({ code: 'REDRIVE_UNKNOWN' })
})
