import assert from 'node:assert/strict'
import type { JustonceEvent } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { memoryTransport } from '../../transports/memory/index.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type Bench, type BenchApp, countsOf, engineCase, note } from './bench.ts'

const inOrder = { ordered: { by: 'key' }, retry: { attempts: 9, backoff: () => 0 } } as const

/** `ordered: { by: 'key' }`: messages of a key take effect in the order of their arrival, even after failures. */
export const keyOrderCases: readonly StoreCase[] = [
  engineCase({
    name: 'order: those behind a failed message of their key follow it in order, and other keys go on',
    async run({ effects, app }) {
      const { app: notes, handle, events } = app()
      let failures = 0
      notes.on('note.created', { name: 'tag-note', ...inOrder }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id === 'a2' && failures++ < 5) throw new Error('not yet')
      })
      const ids = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4']
      await handle(...ids.map((id) => note(id, { key: id[0] as string })))
      await eventually(async () => processed(events, 'a')[3], 'the last of them')
      assert.deepEqual(processed(events, 'a'), ['a1', 'a2', 'a3', 'a4'])
      assert.deepEqual(processed(events, 'b'), ['b1', 'b2', 'b3'])
      const all = processed(events, '')
      assert.ok(all.indexOf('b3') < all.indexOf('a2'), 'another key was held up')
      assert.deepEqual(Object.values(await countsOf(effects, ...ids)), [1, 1, 1, 1, 1, 1, 1])
    },
  }),
  engineCase({
    name: 'order: later messages queue up behind a waiting message, in whichever process they arrive',
    async run(bench) {
      const transport = memoryTransport()
      const apps = [bench.app({ transport }), bench.app({ store: bench.rival, transport: memoryTransport() })] as const
      let isBroken = true
      for (const { app: notes } of apps)
        notes.on(
          'note.created',
          { name: 'tag-note', ordered: { by: 'key' }, retry: { attempts: 1_000, backoff: () => 50 } },
          ({ id }, { tx }) => {
            if (id === 'a1' && isBroken) throw new Error('not yet')
            return bench.effects.write(tx, id)
          },
        )
      await apps[0].handle(note('a1', { key: 'a' }))
      await apps[1].handle(note('a2', { key: 'a' }), note('a3', { key: 'a' }))
      assert.deepEqual(await parkedReasons(bench), {
        a1: 'HANDLER_FAILED',
        a2: 'WAITS_FOR_EARLIER_MESSAGE',
        a3: 'WAITS_FOR_EARLIER_MESSAGE',
      })
      assert.deepEqual(Object.values(await countsOf(bench.effects, 'a1', 'a2', 'a3')), [0, 0, 0])
      isBroken = false
      await eventually(async () => ((await countParked(bench.store)) === 0 ? true : undefined), 'the retries')
      assert.deepEqual(Object.values(await countsOf(bench.effects, 'a1', 'a2', 'a3')), [1, 1, 1])
    },
  }),
  engineCase({
    name: 'order: a backlog behind a failed message is worked off in runs, not one by one',
    async run({ store, effects, app }) {
      let transactions = 0
      const take: typeof store.parking.take = (tx, tickets) => {
        transactions++
        return store.parking.take(tx, tickets)
      }
      const counting = { ...store, parking: { ...store.parking, take } }
      const { app: notes, handle, events } = app({ store: counting })
      let isBroken = true
      notes.on(
        'note.created',
        { name: 'tag-note', ordered: { by: 'key' }, retry: { attempts: 99, backoff: () => 50 }, breaker: false },
        async ({ id }, { tx }) => {
          if (id === 'a0' && isBroken) throw new Error('not yet')
          await effects.write(tx, id)
        },
      )
      const ids = Array.from({ length: 60 }, (_, index) => `a${index}`)
      await handle(...ids.map((id) => note(id, { key: 'a' })))
      const before = transactions
      isBroken = false
      await eventually(async () => processed(events, 'a')[ids.length - 1], 'the last of the pile')
      assert.deepEqual(processed(events, 'a'), ids)
      assert.ok(transactions - before < 15, `${transactions - before} transactions for ${ids.length} messages`)
    },
  }),
  engineCase({
    name: 'order: a backlog that grows as fast as it is worked off is still worked off in runs',
    async run({ store, effects, app }) {
      let transactions = 0
      const transport = memoryTransport()
      const parking: typeof store.parking = {
        ...store.parking,
        take(tx, tickets) {
          transactions++
          return store.parking.take(tx, tickets)
        },
        // So that what has arrived during a run is behind the others before the next one begins.
        async reserve(options) {
          await transport.idle()
          return await store.parking.reserve(options)
        },
      }
      const { app: notes, handle, events } = app({ store: { ...store, parking }, transport })
      // More than a run takes, so that there always is one behind it.
      const [standing, all, wave] = [120, 300, 20]
      const ids = Array.from({ length: all }, (_, index) => `a${index}`)
      const unsent = ids.map((id) => note(id, { key: 'a' }))
      let isBroken = true
      notes.on(
        'note.created',
        { name: 'tag-note', ordered: { by: 'key' }, retry: { attempts: 99, backoff: () => 50 }, breaker: false },
        async ({ id }, { tx }) => {
          if (id === 'a0' && isBroken) throw new Error('not yet')
          await effects.write(tx, id)
          const done = ids.indexOf(id) + 1
          if (done % wave === 0 && all - unsent.length < standing + done) transport.send(unsent.splice(0, wave))
        },
      )
      await handle(...unsent.splice(0, standing))
      const before = transactions
      isBroken = false
      await eventually(async () => processed(events, 'a')[all - 1], 'the last of the pile')
      assert.deepEqual(processed(events, 'a'), ids)
      assert.ok(Object.values(await countsOf(effects, ...ids)).every((count) => count === 1))
      const piled = events.flatMap((event) => (event.kind === 'parked' ? event.key : []))
      assert.equal(new Set(piled).size, all, 'some took effect without having been behind others')
      assert.ok(transactions - before < all / 6, `${transactions - before} transactions for ${all} messages`)
    },
  }),
  engineCase({
    name: 'order: when a message of a run fails, those behind it stay behind it, and no attempt of theirs is counted',
    async run({ store, effects, app }) {
      const { app: notes, handle, events } = app()
      let failures = 0
      notes.on(
        'note.created',
        { name: 'tag-note', ordered: { by: 'key' }, retry: { attempts: 9, backoff: () => 100 }, breaker: false },
        async ({ id }, { tx }) => {
          if (id === 'a0' && failures++ < 1) throw new Error('not yet')
          if (id === 'a3' && failures++ < 4) throw new Error('not yet either')
          await effects.write(tx, id)
        },
      )
      const ids = Array.from({ length: 8 }, (_, index) => `a${index}`)
      await handle(...ids.map((id) => note(id, { key: 'a' })))
      await eventually(async () => processed(events, 'a')[ids.length - 1], 'the last of the run')
      assert.deepEqual(processed(events, 'a'), ids)
      assert.deepEqual(Object.values(await countsOf(effects, ...ids)), [1, 1, 1, 1, 1, 1, 1, 1])
      assert.equal(await countParked(store), 0)
      assert.deepEqual(
        events.filter(({ kind }) => kind === 'quarantined'),
        [],
      )
    },
  }),
  engineCase({
    name: "order: a dead letter blocks its key, except with whenDead: 'continue'",
    async run({ store, effects, app }) {
      for (const whenDead of ['block', 'continue'] as const) {
        const { app: notes, handle } = app()
        const options = { name: `tag-${whenDead}`, ordered: { by: 'key', whenDead }, retry: { attempts: 1 } } as const
        notes.on('note.created', options, async ({ id }, { tx }) => {
          if (id.startsWith('dead')) throw new Error('never')
          await effects.write(tx, `${whenDead} ${id}`)
        })
        await handle(note('dead-1', { key: 'a' }), note('a2', { key: 'a' }), note('b1', { key: 'b' }))
        await handle(note('a3', { key: 'a' }))
      }
      const counts = await countsOf(effects, 'block a2', 'block a3', 'block b1', 'continue a2', 'continue a3')
      assert.deepEqual(Object.values(counts), [0, 0, 1, 1, 1])
      assert.equal(await countParked(store, { state: 'waiting', handler: 'tag-block' }), 2)
    },
  }),
  engineCase({
    name: 'order: messages that wait behind a dead letter are reported; when too many wait, the next become dead letters in their place',
    async run({ store, rival, effects, app }) {
      let isBroken = true
      const withHandler = (opened: BenchApp): BenchApp => {
        const ordered = { by: 'key', mostBehind: 2 } as const
        const options = { name: 'tag-note', ordered, retry: { attempts: 1 }, breaker: false } as const
        opened.app.on('note.created', options, async ({ id }, { tx }) => {
          if (id === 'a1' && isBroken) throw new Error('not yet')
          await effects.write(tx, id)
        })
        return opened
      }
      const { handle, stop } = withHandler(app())
      await handle(...['a1', 'a2', 'b1'].map((id) => note(id, { key: id[0] as string })))
      await handle(note('a3', { key: 'a' }))
      await stop()
      // A process looks when it starts, and then every few seconds.
      const later = withHandler(app({ store: rival }))
      await later.handle()
      const report = { kind: 'key-blocked', handler: 'tag-note', orderKey: 'a', key: 'a1', waiting: 2, isFull: true }
      const isReported = ({ kind }: JustonceEvent): boolean => kind === 'key-blocked'
      assert.deepEqual(await eventually(async () => later.events.find(isReported), 'the report'), report)
      await later.handle(note('a4', { key: 'a' }), note('b2', { key: 'b' }))
      assert.deepEqual(
        (await store.parking.list()).map(({ key, state, reason }) => [key, state, reason]),
        [
          ['a1', 'dead', 'HANDLER_FAILED'],
          ['a2', 'waiting', 'WAITS_FOR_EARLIER_MESSAGE'],
          ['a3', 'waiting', 'WAITS_FOR_EARLIER_MESSAGE'],
          ['a4', 'dead', 'TOO_MANY_BEHIND'],
        ],
      )
      isBroken = false
      await later.app.operations.letters.redrive('all', { by: 'ana' })
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the redrive')
      await later.stop()
      assert.deepEqual(processed(later.events, 'a'), ['a1', 'a2', 'a3', 'a4'])
      const ids = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']
      assert.deepEqual(Object.values(await countsOf(effects, ...ids)), [1, 1, 1, 1, 1, 1])
    },
  }),
  engineCase({
    name: 'order: a message that never ends is parked only after those before it, and those behind it follow it',
    needs: ['revocable'],
    async run({ store, effects, app }) {
      const { app: notes, handle, events } = app()
      let isEndless = true
      notes.on('note.created', { name: 'tag-note', timeoutMs: 100, ...inOrder }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id !== 'a3' || !isEndless) return
        isEndless = false
        await new Promise(() => {})
      })
      await handle(...['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => note(id, { key: 'a' })))
      // The last event comes a moment after its commit.
      await eventually(async () => processed(events, 'a')[4], 'the last of them')
      assert.equal(await countParked(store), 0)
      assert.deepEqual(processed(events, 'a'), ['a1', 'a2', 'a3', 'a4', 'a5'])
    },
  }),
  engineCase({
    name: 'order: with two processes and many failures, the order of every key is exact',
    async run({ store, rival, effects, app }) {
      const transport = memoryTransport()
      const second = { ...transport, ...transport.connect() }
      const apps = [app({ transport, pollMs: 2 }), app({ store: rival, transport: second, pollMs: 2 })]
      const failures = new Map<string, number>()
      const done: string[] = []
      for (const { app: notes } of apps) {
        notes.on('note.created', { name: 'tag-note', ...inOrder }, async ({ id, key }, { tx, afterCommit }) => {
          await effects.write(tx, id)
          const failed = failures.get(id) ?? 0
          if (Number(id.split('-')[1]) % 3 === 1 && failed < 2) {
            failures.set(id, failed + 1)
            throw new Error(`${key} is not ready`)
          }
          afterCommit(() => done.push(id))
        })
      }
      const keys = Array.from({ length: 8 }, (_, index) => `k${index}`)
      const ids = Array.from({ length: 10 }, (_, index) => index).flatMap((index) =>
        keys.map((key) => `${key}-${index}`),
      )
      transport.send(ids.map((id) => note(id, { key: id.split('-')[0] as string })))
      await Promise.all(apps.map(({ handle }) => handle()))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retries')
      await Promise.all(apps.map(({ stop }) => stop()))
      for (const key of keys) {
        const mine = done.filter((id) => id.startsWith(`${key}-`))
        assert.deepEqual(
          mine,
          ids.filter((id) => id.startsWith(`${key}-`)),
        )
      }
      assert.ok(Object.values(await countsOf(effects, ...ids)).every((count) => count === 1))
    },
  }),
  engineCase({
    name: 'order: a transport that promises none is refused at the start',
    async run({ app }) {
      const { app: notes } = app({ transport: memoryTransport({ order: 'none' }) })
      notes.on('note.created', { name: 'tag-note', ordered: { by: 'key' }, retry: { backoff: () => anHour } }, () => {})
      await assert.rejects(notes.start(), (error) => isJustonceError(error, 'ORDER_NOT_KEPT'))
    },
  }),
]

function processed(events: readonly JustonceEvent[], prefix: string): string[] {
  return events.flatMap((event) => (event.kind === 'processed' && event.key.startsWith(prefix) ? event.key : []))
}

async function parkedReasons({ store }: Bench): Promise<Record<string, string>> {
  return Object.fromEntries((await store.parking.list()).map(({ key, reason }) => [key, reason]))
}
