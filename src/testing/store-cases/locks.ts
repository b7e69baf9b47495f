import assert from 'node:assert/strict'
import { claim, claimAndWrite, recordOf, request } from '../sample-records.ts'
import type { StoreCase } from '../store-case.ts'
import { eventually, failureOf, gate, hold, staysPending } from '../waiting.ts'

export const lockCases: readonly StoreCase[] = [
  {
    name: 'locks: a claim that another transaction holds for too long is a conflict, and the store works afterwards',
    async run(context) {
      const { store, rival, effects } = context
      const holder = await hold(store, async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
      })
      // If a database has one writer at a time, the wait comes before the work begins.
      const impatience = { lockTimeoutMs: 80, giveUpAfterMs: 80 }
      const late = rival.transaction((tx) => claim(rival, tx, 'm1'), impatience)
      assert.equal(rival.classify(await failureOf(late, 'a claim that another holds')), 'conflict')
      await holder.commit()
      assert.equal((await claimAndWrite(context, rival, 'm1'))?.state, 'processed')
      assert.equal(await claimAndWrite(context, rival, 'm2'), undefined)
      assert.deepEqual([await effects.count('m1'), await effects.count('m2')], [1, 1])
    },
  },
  {
    name: 'locks: lockTimeoutMs of one transaction does not affect the next',
    needs: ['concurrent'],
    async run({ store, rival }) {
      const holder = await hold(store, (tx) => claim(store, tx, 'm1'))
      await failureOf(
        rival.transaction((tx) => claim(rival, tx, 'm1'), { lockTimeoutMs: 50 }),
        'a claim that another holds',
      )
      const patient = rival.transaction((tx) => claim(rival, tx, 'm1'), { lockTimeoutMs: 20_000 })
      await staysPending(patient, 'the patient one')
      await holder.commit()
      assert.equal((await patient)?.state, 'processed')
    },
  },
  {
    name: 'locks: work that cannot begin within giveUpAfterMs is a conflict and does not begin later',
    needs: ['few-connections'],
    async run(context) {
      const { store, effects } = context
      const keys = Array.from({ length: store.capabilities.connections }, (_, index) => `held ${index}`)
      const holders = await Promise.all(keys.map((key) => hold(store, (tx) => claim(store, tx, key))))
      const late = store.transaction((tx) => effects.write(tx, 'm1'), { giveUpAfterMs: 50, lockTimeoutMs: 20_000 })
      assert.equal(store.classify(await failureOf(late, 'work that cannot begin')), 'conflict')
      for (const holder of holders) await holder.commit()
      assert.equal(await claimAndWrite(context, store, 'm2'), undefined)
      assert.deepEqual([await effects.count('m1'), await effects.count('m2')], [0, 1])
    },
  },
  {
    name: 'locks: a held claim does not block other keys',
    needs: ['concurrent'],
    async run(context) {
      const { store, rival, effects } = context
      const holder = await hold(store, (tx) => store.inbox.claim(tx, [request('m1'), request('m3')]))
      assert.equal(await claimAndWrite(context, rival, 'm2'), undefined)
      assert.equal(await claimAndWrite(context, store, 'm4'), undefined)
      assert.deepEqual([await effects.count('m2'), await effects.count('m4')], [1, 1])
      await holder.commit()
    },
  },
  {
    name: 'locks: nothing is visible before the commit',
    async run({ store, effects }) {
      const holder = await hold(store, async (tx) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
      })
      assert.equal(await effects.count('m1'), 0)
      await holder.commit()
      assert.equal(await effects.count('m1'), 1)
    },
  },
  {
    name: 'locks: a deadlock is a conflict for its victim, of which nothing remains',
    needs: ['concurrent'],
    async run({ store, rival, effects }) {
      const bothHold = [gate(), gate()] as const
      const cross = (mine: 0 | 1) => {
        const [self, keys] = mine === 0 ? [store, ['m1', 'm2']] : [rival, ['m2', 'm1']]
        return self.transaction(
          async (tx) => {
            await claim(self, tx, keys[0] as string)
            await effects.write(tx, `of ${mine}`)
            bothHold[mine].open()
            await bothHold[mine === 0 ? 1 : 0].opened
            await claim(self, tx, keys[1] as string)
          },
          { lockTimeoutMs: 5_000 },
        )
      }
      const ends = await Promise.allSettled([cross(0), cross(1)])
      const victims = ends.filter((end) => end.status === 'rejected')
      assert.ok(victims.length > 0, 'two transactions that wait for each other both went on')
      for (const victim of victims) assert.equal(store.classify(victim.reason), 'conflict')
      for (const mine of [0, 1] as const)
        assert.equal(await effects.count(`of ${mine}`), ends[mine]?.status === 'fulfilled' ? 1 : 0)
      if (victims.length === 2) assert.equal(await recordOf(store, request('m1')), undefined)
    },
  },
  {
    name: 'locks: a holder that falls silent is ended, and its rival gets the claim',
    needs: ['idle-timeout', 'concurrent'],
    async run(context) {
      const { store, rival, effects } = context
      const work = async (tx: Parameters<typeof effects.write>[0]) => {
        await claim(store, tx, 'm1')
        await effects.write(tx, 'm1')
      }
      // A slow machine may be silent for as long before its work is done. Then it is tried again.
      const holding = () => hold(store, work, { idleTimeoutMs: 100 }).catch(() => undefined)
      const frozen = await eventually(holding, 'a holder that is not ended before it has claimed')
      assert.equal(await claimAndWrite(context, rival, 'm1'), undefined)
      await failureOf(frozen.commit(), 'the commit of a holder that was ended')
      assert.equal(await effects.count('m1'), 1)
      assert.equal(await claimAndWrite(context, store, 'm2'), undefined)
    },
  },
]
