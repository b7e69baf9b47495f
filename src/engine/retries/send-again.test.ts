import { expect, test } from 'vitest'
import { openEngine } from '../../../test/app/open-engine.ts'
import { overriding } from '../../testing/overriding.ts'
import { parkedMessage } from '../../testing/sample-records.ts'
import { Reservation } from './reservation.ts'
import { sendAgain } from './send-again.ts'

test('what stands behind a row that somebody else holds does not overtake it, and both are given back', async () => {
  const { engine, store } = openEngine()
  const letters = ['m1', 'm2', 'm3'].map((key) => parkedMessage(key, { handler: '>events', orderKey: 'a' }))
  await store.transaction((tx) => store.parking.park(tx, letters))
  const reservations = (await store.parking.list()).map((letter) => new Reservation(letter))
  const { parking } = store
  const take: typeof parking.take = async (tx, tickets) =>
    (await parking.take(tx, tickets)).map((isOurs, index) => isOurs && index !== 1)
  Object.assign(engine, { store: overriding(store, { parking: overriding(parking, { take }) }) })
  const { untried } = await sendAgain(engine, reservations)
  expect(untried.map(({ letter }) => letter.key)).toEqual(['m2', 'm3'])
  expect((await store.parking.list()).map(({ key }) => key)).toEqual(['m2', 'm3'])
  expect((await store.queue.count('>events')).ready).toBe(1)
})
