import assert from 'node:assert/strict'
import { justonce } from '../../app/justonce.ts'
import type { Publisher } from '../../contracts/index.ts'
import { databaseNow } from '../../facts/index.ts'
import { factOf, readState, writeState } from '../../facts/schedule-facts.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type BenchStore, engineCase } from './bench.ts'

const name = 'nightly'
const type = 'report.due'
const day = 86_400_000

interface Opened {
  readonly store: BenchStore
  readonly publisher: Publisher
  readonly missed?: 'skip' | 'last' | 'all'
  readonly everyMs?: number
}

function open({ store, publisher, ...times }: Opened) {
  const app = justonce<BenchStore>({ store, to: { reports: publisher }, pollMs: 20, log: false })
  app.schedule(name, { everyMs: day, type, body: { n: 1 }, ...times })
  return app
}

function recorder() {
  const sent: { readonly id: string; readonly sentAt: number }[] = []
  const publisher: Publisher = {
    destination: 'reports',
    async publish(messages) {
      sent.push(...messages.map(({ id, sentAt }) => ({ id, sentAt: sentAt.getTime() })))
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  return { sent, publisher }
}

/** As if the schedule had last ticked so many days ago, by the database's clock. */
async function lastTicked(store: BenchStore, daysAgo: number): Promise<number> {
  const now = (await databaseNow(store)).getTime()
  const today = Math.floor(now / day) * day
  const since = today - daysAgo * day
  const state = { name, type, times: `every ${day} ms`, since, last: since, next: since + day }
  const [known] = await store.facts.read([factOf(state)])
  const change = { name: factOf(state), from: known?.revision, value: writeState(state), forMs: undefined }
  assert.notEqual((await store.facts.change(undefined, [change]))[0], undefined)
  return today
}

async function stateOf(store: BenchStore) {
  return readState((await store.facts.read([factOf({ name, type })]))[0]?.value)
}

export const scheduleCases: readonly StoreCase[] = [
  engineCase({
    name: 'schedule: of ten processes that see the same tick, one makes its message',
    needs: ['queue'],
    async run({ store, rival }) {
      const { sent, publisher } = recorder()
      const today = await lastTicked(store, 1)
      const apps = Array.from({ length: 10 }, (_, index) => open({ store: index % 2 ? rival : store, publisher }))
      await Promise.all(apps.map((app) => app.start()))
      await eventually(() => Promise.resolve(sent.length > 0 ? true : undefined), 'the message of the tick')
      await Promise.all(apps.map((app) => app.stop()))
      assert.deepEqual(
        sent.map(({ sentAt }) => sentAt),
        [today],
      )
      assert.equal((await stateOf(store))?.since, today)
      assert.deepEqual(await store.queue.queues(), [])
    },
  }),
  engineCase({
    name: 'schedule: what becomes of missed ticks is what the schedule says',
    needs: ['queue'],
    async run({ store }) {
      for (const [missed, back] of [
        ['skip', []],
        ['last', [0]],
        ['all', [4, 3, 2, 1, 0]],
      ] as const) {
        const { sent, publisher } = recorder()
        const today = await lastTicked(store, 5)
        const now = (await databaseNow(store)).getTime()
        const app = open({ store, publisher, missed })
        await app.start()
        const isDone = async () =>
          (await stateOf(store))?.since === today && sent.length >= back.length ? true : undefined
        await eventually(isDone, `the schedule with ${missed}`)
        await app.stop()
        // Just after midnight the last tick is not missed.
        const expected = missed === 'skip' && now - today <= 60_000 ? [0] : back
        assert.deepEqual(
          sent.map(({ sentAt }) => sentAt),
          expected.map((days) => today - days * day),
        )
      }
    },
  }),
  engineCase({
    name: 'schedule: it begins when a process has it for the first time, and says how far it is',
    needs: ['queue'],
    async run({ store }) {
      const { sent, publisher } = recorder()
      const app = open({ store, publisher, everyMs: 1_000, missed: 'all' })
      await app.start()
      await eventually(() => Promise.resolve(sent.length >= 2 ? true : undefined), 'two ticks')
      await app.stop()
      const [status] = await app.operations.schedules.list()
      assert.equal(status?.name, name)
      assert.equal(status.times, 'every 1000 ms')
      assert.equal(status.nextTick.getTime() - (status.lastTick?.getTime() ?? 0), 1_000)
      const times = sent.map(({ sentAt }) => sentAt)
      assert.deepEqual(
        times,
        times.map((_, index) => (times[0] ?? 0) + index * 1_000),
      )
      assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length)
      assert.equal(await app.operations.schedules.forget(name, { by: 'ana' }), true)
      assert.equal(await app.operations.schedules.forget(name, { by: 'ana' }), false)
      assert.deepEqual(await app.operations.schedules.list(), [])
    },
  }),
]
