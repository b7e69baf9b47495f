import assert from 'node:assert/strict'
import { systemClock } from '../../clock/index.ts'
import type { Store } from '../../contracts/index.ts'
import { PermanentError } from '../../errors/index.ts'
import { coordinate } from '../../reservations/coordinate.ts'
import type { Participant, Step } from '../../reservations/participant.ts'
import { participantIn } from '../../reservations/participant-in.ts'
import type { Effects, StoreCase } from '../store-case.ts'
import { engineCase } from './bench.ts'

const { signal } = new AbortController()

/** Each step writes its own name. */
function participant(store: Store, effects: Effects<unknown>, refuses = false): Participant {
  const write = (step: Step) => async (tx: unknown) => await effects.write(tx, step)
  return participantIn(store, {
    async try(tx) {
      await effects.write(tx, 'try')
      if (refuses) throw new PermanentError('none left')
    },
    confirm: write('confirm'),
    cancel: write('cancel'),
  })
}

function callOf(step: Step) {
  return { reservation: 'order', participant: 'stock', id: 'r1', body: {}, idempotencyKey: `r1/stock/${step}`, signal }
}

async function written(effects: Effects<unknown>): Promise<Record<Step, number>> {
  return {
    try: await effects.count('try'),
    confirm: await effects.count('confirm'),
    cancel: await effects.count('cancel'),
  }
}

export const reservationCases: readonly StoreCase[] = [
  engineCase({
    name: 'reservation: every step takes effect once, however often and by whomever it is called',
    async run({ store, rival, effects }) {
      const both = [participant(store, effects), participant(rival, effects)]
      for (const step of ['try', 'confirm'] as const) {
        const called = await Promise.allSettled([...both, ...both].map((each) => each[step](callOf(step))))
        assert.ok(
          called.some(({ status }) => status === 'fulfilled'),
          JSON.stringify(called),
        )
      }
      assert.deepEqual(await written(effects), { try: 1, confirm: 1, cancel: 0 })
    },
  }),
  engineCase({
    name: 'reservation: a cancel without a try does nothing, and the try that comes later is refused',
    async run({ store, rival, effects }) {
      await participant(store, effects).cancel(callOf('cancel'))
      await assert.rejects(
        async () => await participant(rival, effects).try(callOf('try')),
        /cancelled before it was tried/,
      )
      assert.deepEqual(await written(effects), { try: 0, confirm: 0, cancel: 0 })
    },
  }),
  engineCase({
    name: 'reservation: a participant stays as it has ended, although the decision was lost and is made again',
    async run({ store, rival, effects }) {
      await participant(store, effects).try(callOf('try'))
      await participant(store, effects).confirm(callOf('confirm'))
      assert.equal(await participant(rival, effects).try(callOf('try')), 'confirmed')
      await assert.rejects(
        async () => await participant(rival, effects).cancel(callOf('cancel')),
        /was confirmed before/,
      )
      assert.deepEqual(await written(effects), { try: 1, confirm: 1, cancel: 0 })
    },
  }),
  engineCase({
    name: 'reservation: if one participant refuses, the other one is cancelled, and a second process changes nothing',
    async run({ store, rival, effects }) {
      const participants = {
        stock: participant(store, effects),
        credit: participant(store, effects, true),
      }
      const run = (self: Store) =>
        coordinate(
          { facts: self.facts, clock: systemClock },
          { name: 'order', participants, timeoutMs: 60_000, callTimeoutMs: 10_000 },
          { id: 'r1', body: {}, signal },
        )
      const expected = { outcome: 'cancelled', why: 'credit: none left' }
      assert.deepEqual(await run(store), expected)
      assert.deepEqual(await run(rival), expected)
      assert.deepEqual(await written(effects), { try: 1, confirm: 0, cancel: 1 })
    },
  }),
]
