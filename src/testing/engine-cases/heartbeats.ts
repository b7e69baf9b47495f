import assert from 'node:assert/strict'
import { operations } from '../../operations/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { engineCase, later, note } from './bench.ts'

const ana = { by: 'ana', why: 'it is repaired' } as const
const often = { everyMs: 100 } as const

/** What operators who have only the store learn about the processes that work with it. */
export const heartbeatCases: readonly StoreCase[] = [
  engineCase({
    name: 'heartbeats: processes, their handlers and what they have done can be seen through the store, and a stopped one is gone',
    async run({ rival, effects, app }) {
      const { app: notes, handle, stop } = app({ name: 'notes', heartbeat: often })
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'bad') throw new Error('no')
      })
      await handle(note('m1'), note('m2'), note('bad'))
      await handle(note('m1'))
      const { processes, handlers, overview } = operations(rival)
      const counted = await eventually(async () => {
        const { history } = await overview({ minutes: 2 })
        const sum = (pick: (minute: (typeof history)[number]) => number) =>
          history.reduce((all, each) => all + pick(each), 0)
        const found = [
          sum((each) => each.processed),
          sum((each) => each.knownHere + each.knownInStore),
          sum((each) => each.failed),
        ]
        return found.join() === '2,1,1' ? found : undefined
      }, 'the counts')
      assert.deepEqual(counted, [2, 1, 1])
      const [process] = await processes()
      assert.equal(process?.app, 'notes')
      assert.deepEqual(process?.handlers, [{ name: 'tag-note', type: 'note.created', formerly: [], breaker: 'closed' }])
      assert.ok(Math.abs(process.clockAheadMs) < 60_000)
      const [handler] = await handlers.list()
      assert.deepEqual([handler?.name, handler?.waiting, handler?.processes.length], ['tag-note', 1, 1])
      assert.ok((handler?.p50Ms ?? -1) >= 0)
      await stop()
      assert.deepEqual(await processes(), [])
      assert.equal(
        (await overview({ minutes: 2 })).history.reduce((all, { processed }) => all + processed, 0),
        2,
      )
    },
  }),
  engineCase({
    name: 'heartbeats: a handler that an operator has paused gets nothing, in a process that starts later either, until it is resumed',
    async run({ rival, effects, app }) {
      const { handlers, audit } = operations(rival)
      assert.equal(await handlers.pause('tag-note', ana), true)
      const { app: notes, transport, handle } = app({ heartbeat: often })
      notes.on('note.created', 'tag-note', async ({ id }, { tx }) => await effects.write(tx, id))
      notes.on('note.removed', 'drop-note', async ({ id }, { tx }) => await effects.write(tx, id))
      transport.send([note('m1')])
      const handled = handle(note('m2', { type: 'note.removed' }))
      await eventually(async () => ((await effects.count('m2')) === 1 ? true : undefined), 'the other handler')
      assert.equal(await effects.count('m1'), 0)
      const [paused] = (await handlers.list()).filter(({ name }) => name === 'tag-note')
      assert.deepEqual([paused?.paused?.by, paused?.paused?.why], [ana.by, ana.why])
      assert.equal(await handlers.resume('tag-note', ana), true)
      await handled
      assert.equal(await effects.count('m1'), 1)
      assert.deepEqual(
        (await audit()).map(({ action }) => action),
        ['resume', 'pause'],
      )
    },
  }),
  engineCase({
    name: 'heartbeats: a message is found by id, key, error and state, and its story says what each handler did, why it came again, and who did what',
    async run({ rival, effects, app }) {
      const { app: notes, handle } = app({ heartbeat: often })
      notes.on('note.created', 'count-notes', async ({ id }, { tx }) => await effects.write(tx, `counted ${id}`))
      notes.on(
        'note.created',
        { name: 'tag-note', identify: ({ id }) => `tag ${id}`, ...later },
        async ({ id }, { tx }) => {
          await effects.write(tx, id)
          if (id === 'm2') throw new Error('the tag is unknown')
        },
      )
      await handle(note('m1'), note('m2'))
      await handle(note('m2'))
      const { messages, retries, processes } = operations(rival)
      const found = async (filter: Parameters<typeof messages.find>[0]) =>
        (await messages.find(filter)).map(({ handler, key, state }) => [handler, key, state].join('|')).toSorted()
      await eventually(async () => ((await processes()).length > 0 ? true : undefined), 'the first heartbeat')
      assert.deepEqual(await found({ id: 'm1' }), ['count-notes|m1|processed'])
      assert.deepEqual(await found({ id: 'm2' }), ['count-notes|m2|processed', 'tag-note|tag m2|waiting'])
      assert.deepEqual(await found({ key: 'tag m1' }), ['tag-note|tag m1|processed'])
      assert.deepEqual(await found({ errorText: 'tag is unknown' }), ['tag-note|tag m2|waiting'])
      assert.deepEqual(await found({ state: 'dead' }), [])
      assert.deepEqual(await found({ key: 'm1', state: 'processed', before: new Date(0) }), [])
      await assert.rejects(messages.find({ state: 'processed' }), /by id or key only/)
      await retries.retryNow({ handler: 'tag-note', key: 'tag m2' }, ana)
      const story = await eventually(async () => {
        const told = await messages.story('m2')
        const isTried = told?.handlers.some(({ attempts, state }) => attempts === 2 && state === 'waiting')
        return isTried && told?.duplicates.length === 2 ? told : undefined
      }, 'the duplicates and the second attempt')
      const told = story.handlers.map(({ handler, state, errors }) => [
        handler,
        state,
        errors.map(({ message }) => /unknown/.test(message)),
      ])
      assert.deepEqual(told?.toSorted(), [
        ['count-notes', 'processed', []],
        ['tag-note', 'waiting', [true, true]],
      ])
      assert.deepEqual(story.message?.body, { id: 'm2' })
      assert.deepEqual(story.duplicates.map(({ handler, messageId }) => [handler, messageId]).toSorted(), [
        ['count-notes', 'm2'],
        ['tag-note', 'm2'],
      ])
      assert.deepEqual(
        story.actions.map(({ action, by }) => [action, by]),
        [['retry', 'ana']],
      )
      assert.equal(await messages.story('nobody knows it'), undefined)
    },
  }),
]
