import assert from 'node:assert/strict'
import { countParked } from '../../operations/index.ts'
import { overriding } from '../overriding.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type Bench, countsOf, engineCase, note } from './bench.ts'
import { limitsByHand } from './limits-by-hand.ts'

/** Retried at once after the first failure, and after the second not again while the case runs. */
const twiceSoon = { retry: { attempts: 9, backoff: (failed: number) => (failed === 1 ? 0 : anHour) } } as const

/** A later attempt is rolled back, counted and isolated exactly as the first one is. */
export const retryCases: readonly StoreCase[] = [
  engineCase({
    name: 'retry: a later attempt that fails leaves nothing behind and is counted',
    async run(bench) {
      const { effects, app } = bench
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...twiceSoon }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        throw new Error('no')
      })
      await handle(note('m1'))
      const row = await secondFailure(bench)
      assert.deepEqual([row.key, row.state, row.reason], ['m1', 'waiting', 'HANDLER_FAILED'])
      assert.equal(JSON.parse(row.errors).length, 2)
      assert.equal(await effects.count('m1'), 0)
    },
  }),
  engineCase({
    name: 'retry: a later attempt that never ends is cut off and counted, and others continue',
    needs: ['revocable'],
    async run(bench) {
      const { effects, app } = bench
      const { clock, pass } = limitsByHand()
      const { app: notes, handle } = app({ clock })
      const seen = new Set<string>()
      const timeoutMs = 60_000
      notes.on('note.created', { name: 'tag-note', timeoutMs, ...twiceSoon }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (id !== 'm1') return
        // Once it was parked, only the retrier runs it.
        if ((await countParked(bench.store)) === 0) throw new Error('no')
        seen.add(id)
        pass(timeoutMs)
        await new Promise(() => {})
      })
      await handle(note('m1'))
      const row = await secondFailure(bench)
      assert.equal(row.reason, 'HANDLER_TIMEOUT')
      assert.equal(seen.size, 1)
      await handle(note('m2'))
      assert.deepEqual(await countsOf(effects, 'm1', 'm2'), { m1: 0, m2: 1 })
    },
  }),
  engineCase({
    name: 'retry: a later attempt whose commit fails is counted',
    needs: ['deferred-failure'],
    async run(bench) {
      const { effects, app } = bench
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...twiceSoon }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        await effects.writeFailingAtCommit?.(tx)
      })
      await handle(note('m1'))
      await secondFailure(bench)
      assert.equal(await effects.count('m1'), 0)
    },
  }),
  engineCase({
    name: 'retry: a later attempt that swallows a database error is counted',
    needs: ['bad-write', 'poisoning'],
    async run(bench) {
      const { effects, app } = bench
      const { app: notes, handle } = app()
      notes.on('note.created', { name: 'tag-note', ...twiceSoon }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        await effects.writeBadly?.(tx).catch(() => {})
      })
      await handle(note('m1'))
      await secondFailure(bench)
      assert.equal(await effects.count('m1'), 0)
    },
  }),
  engineCase({
    name: 'retry: several processes share the due messages, and each message runs once',
    async run({ store, rival, effects, app }) {
      let parking = true
      const apps = [app({ pollMs: 1 }), app({ store: rival, pollMs: 1 })]
      for (const { app: notes } of apps)
        notes.on(
          'note.created',
          { name: 'tag-note', retry: { attempts: 100_000, backoff: () => 0 } },
          async ({ id }, { tx }) => {
            await effects.write(tx, id)
            if (parking) throw new Error('not yet')
          },
        )
      const ids = Array.from({ length: 10 }, (_, index) => `m${index}`)
      await Promise.all(
        apps.map(({ handle }, index) => handle(...ids.slice(index * 5, index * 5 + 5).map((id) => note(id)))),
      )
      parking = false
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retries')
      assert.deepEqual(
        Object.values(await countsOf(effects, ...ids)),
        ids.map(() => 1),
      )
    },
  }),
  engineCase({
    name: 'retry: as many run at once as the app has lanes, and a slow one delays no other',
    needs: ['concurrent'],
    async run({ store, effects, app }) {
      const { promise: othersAreDone, resolve: goOn } = Promise.withResolvers<void>()
      let isBroken = true
      const { app: notes, handle } = app({ concurrency: 2 })
      const retry = { attempts: 99, backoff: () => 100 }
      notes.on('note.created', { name: 'tag-note', retry, breaker: false }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (isBroken) throw new Error('not yet')
        if (id === 'slow') await othersAreDone
      })
      const ids = Array.from({ length: 10 }, (_, index) => `m${index}`)
      await handle(note('slow'), ...ids.map((id) => note(id)))
      isBroken = false
      const allButOne = async () => ((await countParked(store)) === 1 ? true : undefined)
      await eventually(allButOne, 'the retries beside a slow one')
      assert.equal((await store.parking.list())[0]?.key, 'slow')
      goOn()
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the slow one')
      assert.deepEqual(Object.values(await countsOf(effects, 'slow', ...ids)), [1, ...ids.map(() => 1)])
    },
  }),
  engineCase({
    name: 'retry: a message that was reserved and never begun is not blamed when the process that reserved it dies',
    async run({ store, rival, effects, app }) {
      let isBroken = true
      const open = () => {
        const opened = app()
        const retry = { attempts: 19, backoff: () => 100 }
        opened.app.on('note.created', { name: 'tag-note', retry, breaker: false }, async ({ id }, { tx }) => {
          if (isBroken) throw new Error('not yet')
          await effects.write(tx, id)
        })
        return opened
      }
      const first = open()
      await first.handle(note('m1'))
      await first.stop()
      isBroken = false
      const options = {
        limit: 1,
        maxBytes: 1,
        forMs: 1,
        wanted: [{ handler: 'tag-note', type: undefined }],
        pastDead: [],
      }
      for (let deaths = 0; deaths < 20; deaths++)
        await eventually(async () => (await rival.parking.reserve(options))[0], 'a reservation')
      const { handle, stop, events } = open()
      await handle()
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retry')
      await stop()
      assert.equal(await effects.count('m1'), 1)
      assert.deepEqual(
        events.filter(({ kind }) => kind === 'quarantined'),
        [],
      )
    },
  }),
  engineCase({
    name: 'retry: a row that another transaction holds for a moment, without changing it, is tried right afterwards, and no attempt is counted',
    needs: ['concurrent'],
    async run(bench) {
      const { store, effects, app } = bench
      let isBroken = true
      const { store: met, answers } = meetingOnce(bench)
      const { app: notes, handle, events } = app({ store: met })
      const retry = { attempts: 9, backoff: () => 0 }
      notes.on('note.created', { name: 'tag-note', retry }, async ({ id }, { tx }) => {
        await effects.write(tx, id)
        if (!isBroken) return
        isBroken = false
        throw new Error('not yet')
      })
      await handle(note('m1'))
      await eventually(async () => ((await countParked(store)) === 0 ? true : undefined), 'the retry')
      assert.deepEqual(answers.slice(0, 2), [[true], [false]])
      assert.equal(await effects.count('m1'), 1)
      assert.deepEqual(
        events.filter(({ kind }) => kind === 'quarantined'),
        [],
      )
    },
  }),
]

async function secondFailure({ store }: Bench) {
  return eventually(async () => {
    const [row] = await store.parking.list()
    return row?.attempts === 2 ? row : undefined
  }, 'the second attempt')
}

/** Another transaction locks the first rows taken until that was tried. `answers` has its answer, then the store's. */
function meetingOnce({ store, rival }: Bench) {
  const answers: (readonly boolean[])[] = []
  const { parking } = store
  const take: typeof parking.take = async (tx, tickets) => {
    if (answers.length > 0) {
      answers.push(await parking.take(tx, tickets))
      return answers.at(-1) ?? []
    }
    return await rival.transaction(async (other) => {
      answers.push(await rival.parking.take(other, tickets))
      answers.push(await parking.take(tx, tickets))
      return answers.at(-1) ?? []
    })
  }
  return { store: overriding(store, { parking: overriding(parking, { take }) }), answers }
}
