import assert from 'node:assert/strict'
import { unpackOutgoing } from '../../encoding/packed-message.ts'
import { countParked } from '../../operations/index.ts'
import { type MemoryTransport, memoryTransport } from '../../transports/memory/index.ts'
import { textOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { countsOf, engineCase, isAllSent, largestBatch, later, note, takeOutgoing } from './bench.ts'

/** What leaves the transaction, and when. */
export const afterCommitCases: readonly StoreCase[] = [
  engineCase({
    name: 'after commit: hooks run once, after the commit, and not for a handler that failed',
    async run({ effects, app }) {
      const seen: [string, number][] = []
      const { app: notes, handle, stop } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { tx, afterCommit }) => {
        await effects.write(tx, id)
        afterCommit(async () => void seen.push([id, await effects.count(id)]))
        if (id === 'm2') throw new Error('no')
      })
      await handle(note('m1'), note('m2'), note('m3'), note('m1'))
      await stop()
      assert.deepEqual(seen.sort(), [
        ['m1', 1],
        ['m3', 1],
      ])
    },
  }),
  engineCase({
    name: 'after commit: hooks of a later attempt that succeeds run, too',
    async run({ store, effects, app }) {
      const seen: string[] = []
      let runs = 0
      const { app: notes, handle, stop } = app()
      notes.on(
        'note.created',
        { name: 'tag-note', retry: { backoff: () => 0 } },
        async ({ id }, { tx, afterCommit }) => {
          await effects.write(tx, id)
          afterCommit(() => seen.push(id))
          if (++runs < 4) throw new Error('not yet')
        },
      )
      await handle(note('m1'))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retry')
      await stop()
      assert.deepEqual(seen, ['m1'])
    },
  }),
  engineCase({
    name: 'after commit: a hook of a retried message that never ends does not delay other retries',
    async run({ store, effects, app }) {
      const { promise: hanging, resolve: end } = Promise.withResolvers<void>()
      const failed = new Set<string>()
      const { app: notes, handle, stop } = app()
      notes.on(
        'note.created',
        { name: 'tag-note', retry: { backoff: () => (failed.size === 1 ? 0 : 300) } },
        async ({ id }, { tx, afterCommit }) => {
          await effects.write(tx, id)
          if (id === 'hangs') afterCommit(() => hanging)
          if (failed.has(id)) return
          failed.add(id)
          throw new Error('not yet')
        },
      )
      await handle(note('hangs'))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the first retry')
      await handle(note('m1'))
      await eventually(async () => ((await effects.count('m1')) === 1 ? true : undefined), 'the retry after it')
      end()
      await stop()
    },
  }),
  engineCase({
    name: 'after commit: a hook that fails affects no other message',
    async run({ store, effects, app }) {
      const { app: notes, handle, stop, events } = app()
      notes.on('note.created', 'tag-note', async ({ id }, { tx, afterCommit }) => {
        afterCommit(() => {
          throw new Error('the cache is away')
        })
        await effects.write(tx, id)
      })
      await handle(note('m1'), note('m2'))
      await stop()
      assert.deepEqual(await countsOf(effects, 'm1', 'm2'), { m1: 1, m2: 1 })
      assert.equal(await countParked(store), 0)
      assert.equal(events.filter(({ kind }) => kind === 'after-commit-failed').length, 2)
    },
  }),
  engineCase({
    name: 'after commit: what a processed handler has published is handled once; what a failed one has published is never sent',
    needs: ['queue'],
    async run({ store, effects, app }) {
      const { app: notes, handle, transport } = app()
      notes.on('note.created', { name: 'tag-note', ...later }, async ({ id }, { publish }) => {
        await publish('note.tagged', { tagged: id })
        if (id === 'm2') throw new Error('no')
      })
      notes.on('note.tagged', 'count-tags', ({ body }, { tx }) =>
        effects.write(tx, (body as { tagged: string }).tagged),
      )
      await handle(note('m1'), note('m2'), note('m3'), note('m1'))
      const arrived = async () => {
        const counts = await countsOf(effects, 'm1', 'm3')
        return counts.m1 && counts.m3 ? true : undefined
      }
      await eventually(arrived, 'the published messages')
      await eventually(async () => (await isAllSent(store)) || undefined, 'sending all of them')
      await transport.idle()
      assert.deepEqual(await countsOf(effects, 'm1', 'm2', 'm3'), { m1: 1, m2: 0, m3: 1 })
    },
  }),
  engineCase({
    name: 'after commit: an at-least-once handler publishes under the same id each time',
    needs: ['queue'],
    async run({ effects, app }) {
      const ids = new Set<string>()
      let runs = 0
      const { app: notes, handle, transport } = app()
      notes.on('note.created', { name: 'refresh', delivery: 'at-least-once' }, async (_, { publish }) => {
        runs++
        ids.add(await publish('note.refreshed', { again: true }))
      })
      notes.on('note.refreshed', 'count', ({ id }, { tx }) => effects.write(tx, id))
      const [id] = await twice(async () => {
        await handle(note('m1'))
        return [...ids][0] as string
      })
      await eventually(async () => ((await effects.count(id)) > 0 ? true : undefined), 'the published message')
      await transport.idle()
      assert.equal(runs, 2)
      assert.equal(ids.size, 1)
      assert.equal(await effects.count(id), 1)
    },
  }),
  engineCase({
    name: 'after commit: what the messages of one batch publish is sent in the order in which they ran',
    needs: ['queue'],
    async run({ app }) {
      const [calls, sent]: [string[], string[]] = [[], []]
      const transport = memoryTransport()
      const recording: MemoryTransport = {
        ...transport,
        publish(messages) {
          sent.push(...messages.map(({ body }) => JSON.parse(new TextDecoder().decode(body)) as string))
          return transport.publish(messages)
        },
      }
      const { app: notes, events, handle, stop } = app({ transport: recording })
      notes.on('note.created', 'tag-note', async ({ id }, { publish }) => {
        calls.push(id)
        await publish('note.tagged', id, { key: 'k' })
      })
      notes.on('note.tagged', 'count', () => {})
      // They run in the order of their keys, and publish under a single key.
      await handle(
        note('m1', { key: 'b' }),
        note('m2', { key: 'a' }),
        note('m3', { key: 'b' }),
        note('m4', { key: 'a' }),
      )
      await eventually(async () => (sent.length < 4 ? undefined : true), 'what was published')
      await stop()
      assert.equal(largestBatch(events), 4)
      assert.deepEqual(sent, calls.slice(-4))
    },
  }),
  engineCase({
    name: 'after commit: a second run of an at-least-once handler succeeds although its first message has not left yet',
    needs: ['queue'],
    async run({ store, app }) {
      const { app: notes } = app()
      notes.on('note.created', { name: 'refresh', delivery: 'at-least-once' }, (_, { publish }) =>
        publish('note.refreshed', { again: true }),
      )
      notes.on('note.refreshed', 'count', () => {})
      for (const _ of [1, 2])
        assert.deepEqual((await notes.deliver(note('m1'))).handlers, { refresh: { status: 'processed' } })
      const ids = (await takeOutgoing(store)).map(({ message }) => unpackOutgoing(message).id)
      assert.ok(ids.length > 0 && new Set(ids).size === 1, `it was published as ${ids.join(' and ')}`)
    },
  }),
  engineCase({
    name: 'after commit: what the application publishes in its own transaction is sent if that commits, and otherwise never',
    needs: ['queue', 'native-transaction'],
    async run({ store, app, transaction }) {
      const { app: notes } = app()
      await transaction((tx) => notes.publish('note.tagged', 'kept', { tx }))
      const undone = new Error('undone')
      await assert.rejects(
        transaction(async (tx) => {
          await notes.publish('note.tagged', 'lost', { tx })
          throw undone
        }),
        undone,
      )
      const outgoing = await takeOutgoing(store)
      assert.deepEqual(
        outgoing.map(({ message }) => textOf(message)),
        ['"kept"'],
      )
    },
  }),
]

async function twice<T>(run: () => Promise<T>): Promise<[T, T]> {
  return [await run(), await run()]
}
