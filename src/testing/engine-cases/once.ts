import assert from 'node:assert/strict'
import { once } from '../../engine/once/once.ts'
import { isJustonceError } from '../../errors/index.ts'
import { recordOf } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { failureOf, gate, hold } from '../waiting.ts'
import { engineCase } from './bench.ts'

const charge = { handler: 'charge', key: 'e1' }

export const onceCases: readonly StoreCase[] = [
  engineCase({
    name: 'once: the first call and every duplicate get the same value, and there is one effect',
    async run({ store, rival, effects }) {
      const work = async (tx: unknown) => {
        await effects.write(tx, 'e1')
        return { at: new Date(0), amount: 12, note: 'ü 😀 \0', nothing: null, missing: undefined }
      }
      const first = await once(store, charge, work)
      const second = await once(rival, charge, work)
      assert.equal(first.status, 'processed')
      assert.equal(second.status, 'duplicate')
      const value = { at: '1970-01-01T00:00:00.000Z', amount: 12, note: 'ü 😀 \0', nothing: null }
      assert.deepEqual(first.value, value)
      assert.deepEqual(second.value, value)
      assert.ok(second.processedAt instanceof Date)
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: of ten calls at the same time, one does the work, and all get its value',
    async run({ store, rival, effects }) {
      let runs = 0
      const call = (self: typeof store) =>
        once(self, charge, async (tx) => {
          await effects.write(tx, 'e1')
          return ++runs
        })
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) => call(index % 2 === 0 ? store : rival)),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'processed').length, 1)
      assert.ok(
        outcomes.every((outcome) => 'value' in outcome && outcome.value === 1),
        JSON.stringify(outcomes),
      )
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: waitMs is how long to wait for a twin, not for the locks that the work itself wants',
    needs: ['row-locks', 'concurrent'],
    async run({ store, rival, effects }) {
      const holder = await hold(rival, async (tx) => {
        await rival.inbox.claim(tx, [{ handler: 'another', key: 'e1', fingerprint: undefined }])
        await effects.lock?.(tx, 'a row')
      })
      const begun = gate()
      const working = once(store, { ...charge, waitMs: 100 }, async (tx) => {
        begun.open()
        await effects.lock?.(tx, 'a row')
        await effects.write(tx, 'e1')
      })
      working.catch(() => {})
      await begun.opened
      // Some databases count in whole seconds.
      const longer = new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), 1_800))
      const early = await Promise.race([working.catch((error: unknown) => error), longer])
      await holder.commit()
      assert.equal(early, undefined)
      assert.equal((await working).status, 'processed')
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: while a twin runs for longer than waitMs the outcome is busy, and later a duplicate',
    async run({ store, rival, effects }) {
      const twin = await hold(store, async (tx) => {
        await store.inbox.claim(tx, [{ ...charge, fingerprint: undefined }])
        await effects.write(tx, 'e1')
      })
      const call = () => once(rival, { ...charge, waitMs: 80 }, (tx) => effects.write(tx, 'e1'))
      assert.deepEqual(await call(), { status: 'busy' })
      await twin.commit()
      assert.equal((await call()).status, 'duplicate')
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: work that throws leaves nothing, and the next call works',
    async run({ store, effects }) {
      const sorry = new Error('declined')
      const failing = once(store, charge, async (tx) => {
        await effects.write(tx, 'e1')
        throw sorry
      })
      assert.equal(await failureOf(failing, 'work that throws'), sorry)
      assert.equal(await effects.count('e1'), 0)
      assert.equal(await recordOf(store, charge), undefined)
      assert.equal((await once(store, charge, (tx) => effects.write(tx, 'e1'))).status, 'processed')
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: the same key with different content is refused',
    async run({ store, effects }) {
      const call = (content: unknown) => once(store, { ...charge, content }, (tx) => effects.write(tx, 'e1'))
      await call({ amount: 12, to: 'a' })
      assert.equal((await call({ to: 'a', amount: 12 })).status, 'duplicate')
      assert.ok(isJustonceError(await failureOf(call({ amount: 13, to: 'a' }), 'other content'), 'KEY_REUSED'))
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: what the work left running is not stored',
    needs: ['revocable'],
    async run({ store, effects }) {
      const goOn = gate()
      let late: Promise<unknown> | undefined
      await once(store, charge, async (tx) => {
        late = goOn.opened.then(() => failureOf(effects.write(tx, 'late'), 'a late write'))
        await effects.write(tx, 'e1')
      })
      goOn.open()
      assert.ok(isJustonceError(await late, 'TX_CLOSED'))
      assert.equal(await effects.count('late'), 0)
    },
  }),
  engineCase({
    name: 'once: work that commits by itself is refused and leaves nothing',
    needs: ['revocable', 'commit'],
    async run({ store, effects }) {
      const call = once(store, charge, async (tx) => {
        await effects.write(tx, 'e1')
        await effects.commit?.(tx).catch(() => {})
      })
      await failureOf(call, 'a commit from inside')
      assert.equal(await effects.count('e1'), 0)
      assert.equal(await recordOf(store, charge), undefined)
    },
  }),
  engineCase({
    name: 'once: work that takes too long is cut off and leaves nothing, and the next call works',
    needs: ['revocable'],
    async run({ store, effects }) {
      const timedOut = gate()
      let late: Promise<unknown> | undefined
      const call = once(store, { ...charge, timeoutMs: 100 }, async (tx, { signal }) => {
        late = timedOut.opened.then(() => failureOf(effects.write(tx, 'late'), 'a late write'))
        await effects.write(tx, 'e1')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await timedOut.opened
      })
      assert.ok(isJustonceError(await failureOf(call, 'work without an end'), 'HANDLER_TIMEOUT'))
      timedOut.open()
      assert.ok(isJustonceError(await late, 'TX_CLOSED'))
      assert.deepEqual([await effects.count('e1'), await effects.count('late')], [0, 0])
      assert.equal(await recordOf(store, charge), undefined)
      assert.equal((await once(store, charge, (tx) => effects.write(tx, 'e1'))).status, 'processed')
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once: afterCommit runs after the commit, and not after a failure or for a duplicate',
    async run({ store, effects }) {
      const seen: number[] = []
      const call = (fails: boolean) =>
        once(store, charge, async (tx, { afterCommit }) => {
          afterCommit(async () => void seen.push(await effects.count('e1')))
          await effects.write(tx, 'e1')
          if (fails) throw new Error('no')
        })
      await failureOf(call(true), 'work that throws')
      await call(false)
      await call(false)
      assert.deepEqual(seen, [1])
    },
  }),
  engineCase({
    name: 'once within: it commits and rolls back with the caller',
    needs: ['native-transaction'],
    async run({ store, effects, transaction }) {
      const undone = new Error('undone')
      const call = (tx: unknown) => once(store.within(tx), charge, (lent) => effects.write(lent, 'e1'))
      const first = transaction(async (tx) => {
        assert.equal((await call(tx)).status, 'processed')
        assert.equal((await call(tx)).status, 'duplicate')
        throw undone
      })
      assert.equal(await failureOf(first, 'work that throws'), undone)
      assert.equal(await effects.count('e1'), 0)
      assert.equal((await transaction(call)).status, 'processed')
      assert.equal((await transaction(call)).status, 'duplicate')
      assert.equal(await effects.count('e1'), 1)
    },
  }),
  engineCase({
    name: 'once within: work that throws leaves no record, and the caller can still use its transaction',
    needs: ['native-transaction', 'bad-write'],
    async run({ store, effects, transaction }) {
      await transaction(async (tx) => {
        const call = once(store.within(tx), charge, async (lent) => {
          await effects.write(lent, 'e1')
          await effects.writeBadly?.(lent)
        })
        await failureOf(call, 'a bad statement')
        await effects.write(tx, 'after')
      })
      assert.equal(await recordOf(store, charge), undefined)
      assert.deepEqual([await effects.count('e1'), await effects.count('after')], [0, 1])
    },
  }),
]
