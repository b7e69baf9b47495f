import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { justonce, none, operations } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

const ana = { by: 'ana', why: 'on call' }
const failed = { handler: 'tag-note', key: 'm1' }

/** An app has made two dead letters in a file and is gone; the script opens the file again, and has no handler. */
async function letterFile() {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-operations-'))
  const open = () => sqliteStore({ path: join(folder, 'notes.db') })
  const store = open()
  const run = async (isBroken: boolean, ran: string[] = []) => {
    const transport = memoryTransport()
    const app = justonce({ store, transport, log: false, pollMs: 10 })
    app.on('note.created', 'count-note', () => {})
    app.on('note.created', { name: 'tag-note', retry: { backoff: none }, breaker: false }, ({ id }) => {
      if (isBroken) throw new Error(`no "${id}"`)
      ran.push(id)
    })
    return { app, transport }
  }
  const { app, transport } = await run(true)
  transport.send(['m1', 'm2'].map((id) => ({ id, type: 'note.created', body: { id }, headers: { trace: id } })))
  await app.start()
  await transport.idle()
  await app.stop()
  const script = open()
  onTestFinished(async () => {
    await script.close()
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return { ...operations(script), script, run }
}

test('a script lists, reads, groups and annotates dead letters', async () => {
  const { letters, audit } = await letterFile()
  expect(await letters.list()).toMatchObject([
    { ...failed, reason: 'HANDLER_FAILED', attempts: 1, body: { id: 'm1' }, headers: { trace: 'm1' } },
    { handler: 'tag-note', key: 'm2' },
  ])
  const [only, ...others] = await letters.list({ errorText: 'no "m2"' })
  expect([only?.key, others]).toEqual(['m2', []])
  expect(await letters.get(failed)).toMatchObject({ errors: [{ message: expect.stringContaining('no "m1"') }] })
  const [group] = await letters.groups()
  expect(group).toMatchObject({ count: 2, shape: 'Error: no "…"' })
  await letters.annotate(group as NonNullable<typeof group>, 'known', ana)
  expect(await letters.groups()).toMatchObject([{ note: 'known' }])
  expect(await audit()).toMatchObject([{ action: 'annotate', by: 'ana', why: 'on call' }])
})

test('a preview says what the rows say, and that it does not know what other handlers have done', async () => {
  const { letters } = await letterFile()
  expect(await letters.preview('all')).toEqual({
    letters: 2,
    wouldRun: { 'tag-note': 2 },
    alreadyDone: undefined,
    tooOld: 0,
    expired: 0,
  })
})

test('a script redrives, and whichever app is started next drives it', async () => {
  const { letters, run } = await letterFile()
  const { id, selected } = await letters.redrive('all', ana)
  expect(selected).toBe(2)
  expect(await letters.redrives()).toMatchObject([{ id, state: 'running' }])
  const ran: string[] = []
  const { app } = await run(false, ran)
  const ended = new Promise((resolve) =>
    app.events.listen((event) => event.kind === 'redrive-ended' && resolve(event.state)),
  )
  await app.start()
  expect(await ended).toBe('finished')
  await app.stop()
  expect(ran).toEqual(['m1', 'm2'])
  expect(await letters.redriveStatus(id)).toMatchObject({ state: 'finished', succeeded: 2 })
  expect(await letters.list()).toEqual([])
})

test('a script stops a redrive, discards, and forgets', async () => {
  const { letters, records, audit } = await letterFile()
  const { id } = await letters.redrive(failed, ana)
  expect(await letters.stopRedrive(id, ana)).toBe(true)
  expect(await letters.discard('all', ana)).toBe(2)
  expect(await records.find(failed)).toMatchObject({ state: 'discarded' })
  expect(await records.forget({ handler: 'count-note', key: 'm1' }, ana)).toBe(true)
  expect(await records.find({ handler: 'count-note', key: 'm1' })).toBeUndefined()
  expect(await records.find({ handler: 'count-note', key: 'm2' })).toMatchObject({ state: 'processed' })
  expect((await audit()).map(({ action }) => action)).toEqual(['forget', 'discard', 'stop-redrive', 'redrive'])
})

test('an edited body is refused where no handler can check it', async () => {
  const { letters, audit } = await letterFile()
  await expect(letters.redrive(failed, { ...ana, body: {} })).rejects.toMatchObject({ code: 'EDIT_INVALID' })
  expect(await letters.get(failed)).toMatchObject({ edited: false, redrive: undefined })
  expect(await audit()).toEqual([])
})

test('a script sees what waits to be sent', async () => {
  const { outgoing, script } = await letterFile()
  expect(await outgoing.waiting()).toEqual({})
  const message = { envelope: new Uint8Array(), body: new Uint8Array() }
  await script.queue.send(undefined, '>billing', [{ key: undefined, message }])
  expect(await outgoing.waiting()).toMatchObject({ billing: { ready: 1, hidden: 0 } })
})
