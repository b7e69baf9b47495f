import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runHere } from './run-here.ts'
import { type Ended, runJustonce } from './run-justonce.ts'

/** A file in which one message was processed, one waits and two are dead, by an app that has ended. */
async function openShop() {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  const store = sqliteStore({ path })
  const transport = memoryTransport()
  const away = { destination: 'events', publish: () => Promise.reject(new Error('away')), async close() {} }
  const app = justonce({ store, from: transport, to: { events: away }, businessId: 'x-note', log: false, name: 'shop' })
  const hostile = 'no \u001b[31mstock\u001b[0m\nleft'
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, ({ id }) => {
    if (id.startsWith('dead')) throw new Error(hostile)
  })
  app.on('note.removed', { name: 'drop-note', retry: { backoff: () => 3_600_000 } }, () => {
    throw new Error('later')
  })
  app.on('note.moved', 'tell', async ({ id }, { publish }) => {
    await publish('note.told', { id }, { id: `told ${id}` })
  })
  const headers = { 'x-shop': 'north', authorization: 'Bearer abc' }
  const ids = ['m1', 'dead-1', 'dead-2'].map((id) => ({ id, type: 'note.created', body: { id }, headers }))
  transport.send([...ids, { id: 'w1', type: 'note.removed', body: { id: 'w1' } }])
  transport.send([{ id: 'p1', type: 'note.moved', body: {}, headers: { 'x-note': 'note 7' } }])
  await app.start()
  await transport.idle()
  await app.stop()
  await store.close()
  const run = (...args: readonly string[]): Promise<Ended> => runHere([...args, '--store', `sqlite:${path}`])
  const json = async (...args: readonly string[]) => JSON.parse((await run(...args, '--json')).out)
  return { path, run, json }
}

describe('justonce for operators', () => {
  test('status, lists and stories say what there is, as plain text and as JSON', async () => {
    const { run, json } = await openShop()
    const status = await run('status')
    expect(status.code).toBe(0)
    expect(status.out).toContain('1 message waiting for another attempt, 2 dead letters')
    expect(status.out).toMatch(/tag-note\s+0\s+not running\s+67 %/)
    expect(await json('status')).toMatchObject({ overview: { parked: { waiting: 1, dead: 2 } }, processes: [] })
    const listed = await run('dead-letters', 'list', '--handler', 'tag-note')
    expect(listed.out).toContain('dead-1')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(listed.out).not.toMatch(/\u001b/)
    expect((await json('dead-letters', 'list')).map(({ key }: { key: string }) => key)).toEqual(['dead-1', 'dead-2'])
    expect(await json('dead-letters', 'groups')).toMatchObject([{ count: 2, handler: 'tag-note' }])
    expect(await json('waiting', 'list')).toMatchObject([{ key: 'w1', attempts: 1 }])
    expect(await json('messages', 'find', '--id', 'm1')).toMatchObject([{ handler: 'tag-note', state: 'processed' }])
    const story = await run('messages', 'show', 'dead-1')
    expect(story.out).toContain('tag-note: dead since')
    expect(story.out).toContain("justonce dead-letters redrive --handler='tag-note' --key='dead-1'")
    // Terminals are shared and pasted into tickets.
    for (const shown of [story, await run('dead-letters', 'show', 'tag-note', 'dead-1')]) {
      expect(shown.out).toContain('header x-shop: north')
      expect(shown.out).toContain('header authorization: ')
      expect(shown.out).not.toContain('abc')
    }
    expect(await json('dead-letters', 'show', 'tag-note', 'dead-1')).toMatchObject({
      headers: { authorization: 'Bearer abc' },
    })
    expect(await run('messages', 'show', 'nothing')).toMatchObject({
      code: 1,
      out: expect.stringContaining('Nothing is known of nothing: '),
    })
  })

  test.for([80, 120])('in a terminal of %i columns nothing is wider, but a command to copy', async (columns) => {
    const { path } = await openShop()
    const asked = [
      ...['status', 'dead-letters list', 'dead-letters groups', 'waiting list', 'messages find', 'handlers list'],
      ...['outgoing status', 'outgoing list --waiting events', 'messages show dead-1', 'messages show p1', 'doctor'],
      ...['dead-letters redrive --all --preview', 'messages show nothing', 'messages find --state outgoing'],
    ]
    for (const command of asked) {
      const { out } = await runHere([...command.split(' '), '--store', `sqlite:${path}`], columns)
      const lines = out.split('\n').filter((line) => !/: justonce /.test(line))
      expect([command, lines.filter((line) => line.length > columns)]).toEqual([command, []])
      expect(lines.length).toBeGreaterThan(1)
    }
    const { out } = await runHere(['dead-letters', 'redrive', '--help'], columns)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns)
  })

  test('what a message has published is in its story, and is found by what it is about until it has left', async () => {
    const { run, json } = await openShop()
    expect(await json('messages', 'find', '--business-id', 'note 7')).toMatchObject([
      { handler: '>events', messageId: 'told p1', state: 'outgoing', businessId: 'note 7' },
    ])
    expect((await run('messages', 'find', '--business-id', 'note 8')).code).toBe(1)
    expect((await run('messages', 'show', 'p1')).out).toContain('note.told told p1 to events: waits')
    expect((await run('messages', 'show', 'told p1')).out).toMatch(
      /about note 7\npublished by tell for p1\nwaits for events since/,
    )
    expect((await run('outgoing', 'list', '--waiting', 'events')).out).toMatch(/told p1 .* tell .*p1/)
    const [{ place }] = await json('outgoing', 'list', '--waiting', 'events')
    expect(await json('outgoing', 'list', '--waiting', 'events', '--after', place)).toEqual([])
    for (const wrong of [
      ['--after', 'x', '--waiting', 'events'],
      ['--after', 'x'],
      ['--waiting', 'a', '--refused', 'b'],
    ])
      expect((await run('outgoing', 'list', ...wrong)).code).toBe(2)
  })

  test('a note about a cause is kept and removed; it is about exactly one', async () => {
    const { run, json } = await openShop()
    const note = async () => (await json('dead-letters', 'groups'))[0].note
    const ofCause = ['--handler', 'tag-note', '--error', 'stock', '--by', 'ana']
    expect(await run('dead-letters', 'note', 'waits for a delivery', ...ofCause)).toMatchObject({ code: 0, err: '' })
    expect(await note()).toBe('waits for a delivery')
    expect(await run('dead-letters', 'note', 'x', '--handler', 'nobody')).toMatchObject({ code: 1 })
    expect(await run('dead-letters', 'note', '', ...ofCause)).toMatchObject({ out: 'The note is removed.\n' })
    expect(await note()).toBeUndefined()
  })

  test('that there is nothing to change is no, and not a mistake', async () => {
    const { run } = await openShop()
    const none = ['--reason', 'NO_SUCH', '--yes']
    const commands = [
      ...[
        ['dead-letters', 'discard'],
        ['dead-letters', 'redrive'],
        ['waiting', 'discard'],
      ].map((each) => [...each, ...none]),
      ['outgoing', 'cancel', 'nothing'],
    ]
    expect(await Promise.all(commands.map(async (each) => (await run(...each)).code))).toEqual([1, 1, 1, 1])
    const hostile = await run('dead-letters', 'redrive', '--handler', 'a', '--key', 'b\u001b[31m\u202e', '--yes')
    expect(['\u001b', '\u202e'].filter((each) => hostile.err.includes(each))).toEqual([])
  })

  test('what cannot be undone asks, and does not happen without an answer; everything is audited', async () => {
    const { run, json } = await openShop()
    const refused = await run('dead-letters', 'discard', '--all')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('give --yes')])
    expect(await run('dead-letters', 'discard')).toMatchObject({ code: 2, err: expect.stringContaining('or --all') })
    expect(
      await run('dead-letters', 'discard', '--key', 'dead-1', '--handler', 'tag-note', '--yes', '--by', 'ana'),
    ).toMatchObject({ code: 0, out: '1 dead letter discarded.\n' })
    expect(await run('waiting', 'run-now', '--handler', 'drop-note', '--by', 'ana')).toMatchObject({
      out: '1 message made due.\n',
    })
    expect(await run('waiting', 'discard', '--all', '--yes', '--by', 'ana')).toMatchObject({
      code: 0,
      out: '1 message discarded.\n',
    })
    expect(await run('waiting', 'discard', '--all', '--yes')).toMatchObject({ code: 1, out: '0 messages discarded.\n' })
    expect(await json('messages', 'find', '--key', 'w1')).toMatchObject([{ state: 'discarded' }])
    expect(await run('messages', 'forget', 'tag-note', 'm1', '--yes', '--by', 'ben')).toMatchObject({ code: 0 })
    expect(await json('handlers', 'pause', 'tag-note', '--by', 'ana', '--why', 'audit')).toMatchObject({
      changed: true,
    })
    expect((await run('handlers', 'list')).out).toContain('paused by ana')
    expect((await run('messages', 'show', 'never-seen')).out).toContain(
      'No process reports that it is alive.\nThe handler tag-note is paused by ana',
    )
    expect(await run('handlers', 'resume', 'tag-note')).toMatchObject({ code: 0 })
    expect(await run('handlers', 'resume', 'tag-note')).toMatchObject({ code: 1 })
    const audit = await json('audit')
    expect(audit.slice(1).map(({ action, by }: { action: string; by: string }) => `${action} ${by}`)).toEqual([
      'pause ana',
      'forget ben',
      'discard ana',
      'retry ana',
      'discard ana',
    ])
  })

  test('a redrive is previewed, started and listed; editing needs the handlers', async () => {
    const { path, run, json } = await openShop()
    expect(await json('dead-letters', 'redrive', '--all', '--preview')).toMatchObject({
      letters: 2,
      wouldRun: { 'tag-note': 2 },
    })
    const edited = ['dead-letters', 'edit', 'tag-note', 'dead-1', '--body', '{"id":"x"}', '--json']
    expect(await run(...edited)).toMatchObject({ code: 2, err: expect.stringContaining('app.operations') })
    const withApp = await runJustonce([...edited, '--config', 'test/cli/fixtures/app.ts'], { TEST_SQLITE: path })
    expect(withApp.err).toContain('It is carried out when an app with the duty retries runs.')
    expect(JSON.parse(withApp.out)).toMatchObject({ selected: 1 })
    const { id } = await json(
      'dead-letters',
      'redrive',
      '--handler',
      'tag-note',
      '--error',
      'stock',
      '--canary',
      '1',
      '--yes',
    )
    expect(await json('dead-letters', 'redrives')).toMatchObject([{ id, selected: 1, canary: 1 }, { state: 'running' }])
    expect(await run('dead-letters', 'stop', id)).toMatchObject({ code: 0, out: 'It is stopped.\n' })
  })

  test('the doctor finds nothing wrong with a good database, and says what is wrong with one without tables', async () => {
    const { run, json } = await openShop()
    const found = await run('doctor')
    expect([found.code, found.err]).toEqual([1, ''])
    expect(found.out).toContain('✓ tables: up to date')
    expect(found.out).toContain('1 message waits for drop-note, which no process has')
    expect(await json('doctor')).toMatchObject({ ok: false })
    const empty = await runJustonce(['doctor', '--store', 'sqlite::memory:', '--json'])
    expect([empty.code, JSON.parse(empty.out).findings[0]]).toEqual([
      1,
      expect.objectContaining({ check: 'tables', level: 'problem' }),
    ])
  })

  test.for([
    { args: [], code: 0, says: 'Usage: justonce <command>' },
    { args: ['--version'], code: 0, says: '0.' },
    { args: ['dead-letters', 'redrive', '--help'], code: 0, says: '--canary <n>' },
    { args: ['dead-letters'], code: 2, says: 'do what? Give one of: list, groups' },
    { args: ['dead-letters', 'burn'], code: 2, says: 'what is burn?' },
    { args: ['dead-letters', 'show', 'tag-note'], code: 2, says: 'which key?' },
    { args: ['status'], code: 2, says: 'which store? Give --store <url or file>, set JUSTONCE_STORE' },
    { args: ['status', '--store', 'sqlite:'], code: 2, says: 'which file?' },
    {
      args: ['waiting', 'list', '--since', 'soon', '--store', 'sqlite::memory:'],
      code: 2,
      says: 'There is no justonce_meta table',
    },
    { args: ['completion', 'bash'], code: 0, says: 'complete -o default -F _justonce justonce' },
    { args: ['completion', 'tcsh'], code: 2, says: 'which shell?' },
  ])('$args: $says', async ({ args, code, says }) => {
    const ended = await runJustonce(args)
    expect(code === 0 ? ended.out : ended.err).toContain(says)
    expect(ended.code).toBe(code)
  })
})
