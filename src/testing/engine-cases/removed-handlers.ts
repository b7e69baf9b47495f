import assert from 'node:assert/strict'
import { systemClock } from '../../clock/index.ts'
import type { Clock } from '../../contracts/index.ts'
import { findRedrives } from '../../operations/redrives.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { anHour, type BenchApp, countsOf, engineCase, note } from './bench.ts'

const ana = { by: 'ana' } as const
const ofTheKey = { ordered: { by: 'key', whenDead: 'continue' }, breaker: false } as const

/** A deploy removes a handler for which messages wait. */
export const removedHandlerCases: readonly StoreCase[] = [
  engineCase({
    name: 'removed handler: a letter of an ordered key that was being redriven holds up no later handler, and keeps its place',
    async run({ store, rival, effects, app }) {
      const ran: string[] = []
      const second = ({ app: notes }: BenchApp) =>
        notes.on('note.created', 'second', ({ id }, { tx }) => effects.write(tx, `second ${id}`))
      let isDying = true
      const before = app()
      const retry = { attempts: 9, backoff: () => (isDying ? 'dead' : anHour) } as const
      before.app.on('note.created', { name: 'first', ...ofTheKey, retry }, () => {
        throw new Error('no')
      })
      second(before)
      await before.handle(note('m1', { key: 'k' }), note('m2', { key: 'k' }))
      isDying = false
      const { id } = await before.app.operations.letters.redrive({ handler: 'first', key: 'm1' }, ana)
      const isTried = async () => (await store.parking.list({ handler: 'first', key: 'm1' }))[0]?.attempts === 1
      await eventually(async () => ((await isTried()) ? true : undefined), 'the attempt of the redriven letter')
      await before.stop()

      const after = app({ store: rival, clock: hurriedClock })
      second(after)
      await after.handle()
      const isDone = async () => (await effects.count('second m1')) === 1
      await eventually(async () => ((await isDone()) ? true : undefined), 'the handler that follows')
      const reached = await eventually(
        async () => (await findRedrives(store, [id]))[0]?.redrive.reached,
        'the end of the redrive',
      )
      assert.equal(reached.failed, 1)
      await after.stop()
      const letters = await store.parking.list({ state: 'dead' })
      assert.deepEqual(
        letters.map(({ key, reason }) => [key, reason]),
        [
          ['m1', 'HANDLER_UNKNOWN'],
          ['m2', 'HANDLER_FAILED'],
        ],
      )

      const again = app()
      again.app.on('note.created', { name: 'first', ...ofTheKey }, (message, { tx }) => {
        ran.push(message.id)
        return effects.write(tx, `first ${message.id}`)
      })
      second(again)
      await again.handle()
      await again.app.operations.letters.redrive('all', ana)
      const areGone = async () => (await store.parking.list()).length === 0
      await eventually(async () => ((await areGone()) ? true : undefined), 'the end of all letters')
      assert.deepEqual(ran.slice(0, 2), ['m1', 'm2'])
      const all = ['first m1', 'first m2', 'second m1', 'second m2']
      assert.deepEqual(Object.values(await countsOf(effects, ...all)), [1, 1, 1, 1])
    },
  }),
]

/** The minutes after which a handler counts as removed pass in moments. */
const hurriedClock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * 1_000,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal),
}
