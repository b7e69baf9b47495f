import assert from 'node:assert/strict'
import { claim, claimAndWrite, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, gate, hold, staysPending } from '../waiting.ts'

/** A handler that ignores its signal runs forever. Its transaction must not. */
export const abortCases: readonly StoreCase[] = [
  {
    name: 'abort: a transaction whose work never ends is rolled back when its signal is aborted',
    async run(context) {
      const { store, effects } = context
      const abort = new AbortController()
      const hasWritten = gate()
      const work = store.transaction(
        async (tx) => {
          await claim(store, tx, 'm1')
          await effects.write(tx, 'm1')
          hasWritten.open()
          await new Promise(() => {})
        },
        { signal: abort.signal },
      )
      await hasWritten.opened
      abort.abort()
      await failureOf(work, 'an aborted transaction')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'abort: what the work writes through its loan after the abort is not stored',
    needs: ['revocable'],
    async run(context) {
      const { store, effects } = context
      const abort = new AbortController()
      const hasWritten = gate()
      const goOn = gate()
      const wentOn = gate()
      const work = store.transaction(
        async (tx) => {
          const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
          await claim(store, tx, 'm1')
          await effects.write(loan.tx, 'm1')
          hasWritten.open()
          await goOn.opened
          await effects.write(loan.tx, 'm1 late').catch(() => {})
          wentOn.open()
        },
        { signal: abort.signal },
      )
      await hasWritten.opened
      abort.abort()
      await failureOf(work, 'an aborted transaction')
      assert.equal(await claimAndWrite(context, store, 'm2'), undefined)
      goOn.open()
      await wentOn.opened
      assert.equal(await claimAndWrite(context, store, 'm3'), undefined)
      const counts = await Promise.all(['m1', 'm1 late', 'm2', 'm3'].map((name) => effects.count(name)))
      assert.deepEqual(counts, [0, 0, 1, 1])
    },
  },
  {
    name: 'abort: what work that was cut off goes on to do with its bare transaction lands nowhere',
    needs: ['revocable'],
    async run(context) {
      const { store, effects } = context
      const inProgress: (() => Promise<void>)[] = []
      const work = store.transaction(
        async (tx) => {
          inProgress.push(() => effects.write(tx, 'm1 late'))
          await claim(store, tx, 'm1')
          throw new Error('cut off')
        },
        { isCutOff: (error) => error instanceof Error && error.message === 'cut off' },
      )
      await failureOf(work, 'work that was cut off')
      for (const write of inProgress) await write().catch(() => {})
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
      const counts = await Promise.all(['m1', 'm1 late'].map((name) => effects.count(name)))
      assert.deepEqual(counts, [1, 0])
    },
  },
  {
    name: 'abort: a transaction that waits for a rival gives up',
    async run(context) {
      const { store, rival, effects } = context
      const holder = await hold(store, (tx) => claim(store, tx, 'm1'))
      const abort = new AbortController()
      const waiting = rival.transaction((tx) => claim(rival, tx, 'm1'), {
        signal: abort.signal,
        lockTimeoutMs: 60_000,
      })
      await staysPending(waiting, 'the rival')
      abort.abort()
      await failureOf(waiting, 'an aborted transaction')
      await holder.undo()
      assert.equal(await claimAndWrite(context, rival, 'm1'), undefined)
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'abort: with a signal that was aborted before the start, nothing is written',
    async run(context) {
      const { store, effects } = context
      const work = store.transaction(
        async (tx) => {
          await claim(store, tx, 'm1')
          await effects.write(tx, 'm1')
        },
        { signal: AbortSignal.abort() },
      )
      await failureOf(work, 'an aborted transaction')
      assert.equal(await recordOf(store, request('m1')), undefined)
      assert.equal(await effects.count('m1'), 0)
      assert.equal(await claimAndWrite(context, store, 'm1'), undefined)
    },
  },
  {
    name: 'abort: a signal that is aborted after the end changes nothing',
    async run(context) {
      const { store, effects } = context
      const abort = new AbortController()
      await store.transaction(
        async (tx) => {
          await claim(store, tx, 'm1')
          await effects.write(tx, 'm1')
        },
        { signal: abort.signal },
      )
      abort.abort()
      assert.equal(await claimAndWrite(context, store, 'm2'), undefined)
      assert.deepEqual([await effects.count('m1'), await effects.count('m2')], [1, 1])
    },
  },
]
