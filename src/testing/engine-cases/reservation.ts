import assert from 'node:assert/strict'
import { systemClock } from '../../clock/index.ts'
import type { Store } from '../../contracts/index.ts'
import { isJustonceError, PermanentError } from '../../errors/index.ts'
import { coordinate } from '../../reservations/coordinate.ts'
import type { Participant, Step } from '../../reservations/participant.ts'
import { participantIn } from '../../reservations/participant-in.ts'
import type { Effects, StoreCase } from '../store-case.ts'
import { eventually } from '../waiting.ts'
import { type BenchApp, type BenchStore, engineCase, note } from './bench.ts'

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

/** An app that reserves `credit` for each note, and `stock`, which cannot be reached. */
function reserving(opened: BenchApp, credit: Participant, outcomes: unknown[]): BenchApp {
  const stock: Participant = {
    try() {
      throw new Error('ECONNREFUSED')
    },
    confirm() {},
    cancel() {},
  }
  opened.app.reservation('order', { participants: { stock, credit } })
  opened.app.on('note.created', 'reserve', async ({ id }, { intend }) => void (await intend('order', {}, { key: id })))
  opened.app.on('intent.done:order', 'report', ({ body }) => void outcomes.push(body.result))
  return opened
}

/** Leaves a reservation behind for which credit is set aside. */
async function leaveUndecided(store: BenchStore, opened: BenchApp): Promise<void> {
  await opened.handle(note('o1'))
  const isWaiting = async () => {
    const [row] = await store.parking.list({ kind: 'intent' })
    return row?.reason === 'INTENT_UNKNOWN' && row.begun === 0 ? true : undefined
  }
  await eventually(isWaiting, 'the first attempt')
  await opened.stop()
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
          { id: 'r1', key: 'o1', attempt: 1, body: {}, signal },
        )
      const expected = { outcome: 'cancelled', why: 'credit: none left' }
      assert.deepEqual(await run(store), expected)
      assert.deepEqual(await run(rival), expected)
      assert.deepEqual(await written(effects), { try: 1, confirm: 0, cancel: 1 })
    },
  }),
  engineCase({
    name: 'reservation: one that a person discards is cancelled, and no person can say that it is done while something is set aside',
    async run({ store, effects, app }) {
      const outcomes: unknown[] = []
      await leaveUndecided(store, reserving(app(), participant(store, effects), outcomes))
      assert.equal((await written(effects)).try, 1)
      const next = reserving(app(), participant(store, effects), outcomes)
      const { intents, reservations } = next.app.operations
      const which = { effect: 'order', key: 'o1' }
      await assert.rejects(
        intents.resolve(which, { as: 'done' }, { by: 'ada' }),
        (error) => isJustonceError(error, 'RESERVATION_UNDER_WAY') && error.message.includes('credit is reserved'),
      )
      await intents.resolve(which, { as: 'discarded' }, { by: 'ada', why: 'sold out' })
      const [state] = await reservations.list()
      assert.equal(state?.decision, 'cancel')
      assert.deepEqual(await reservations.get(which), state)
      assert.deepEqual(await reservations.get(state.id), state)
      await next.handle()
      await eventually(async () => (outcomes.length > 0 ? true : undefined), 'the outcome')
      assert.deepEqual(outcomes, [{ outcome: 'cancelled', why: 'ada resolved it as discarded: sold out' }])
      assert.deepEqual(await written(effects), { try: 1, confirm: 0, cancel: 1 })
      assert.deepEqual(await store.parking.list({ kind: 'intent' }), [])
      const ended = await reservations.get(which)
      assert.deepEqual(ended?.participants, { stock: 'cancelled', credit: 'cancelled' })
      assert.equal(await reservations.get({ effect: 'other', key: 'o1' }), undefined)
      const [action] = await next.app.operations.audit()
      assert.deepEqual([action?.action, action?.by, action?.why], ['resolve', 'ada', 'sold out'])
    },
  }),
  engineCase({
    name: 'reservation: one that was never tried can be discarded, and one that is to be confirmed cannot',
    async run({ store, effects, app, transaction }) {
      const unable: Participant = { ...participant(store, effects), confirm: () => Promise.reject(new Error('away')) }
      const reserve = () => {
        const opened = app()
        opened.app.reservation('order', { participants: { credit: unable } })
        opened.app.on('note.created', 'reserve', async ({ id }, { intend }) => {
          await intend('order', {}, { key: id })
        })
        return opened
      }
      await leaveUndecided(store, reserve())
      const { app: stopped } = reserve()
      await transaction(async (tx) => void (await stopped.intend('order', {}, { tx, key: 'o2' })))
      const { intents } = stopped.operations
      await intents.resolve({ effect: 'order', key: 'o2' }, { as: 'discarded' }, { by: 'ada' })
      await assert.rejects(
        intents.resolve({ effect: 'order', key: 'o1' }, { as: 'discarded' }, { by: 'ada' }),
        (error) => isJustonceError(error, 'RESERVATION_UNDER_WAY'),
      )
      const left = await store.parking.list({ kind: 'intent' })
      assert.deepEqual(
        left.map(({ key }) => key),
        ['o1'],
      )
    },
  }),
]
