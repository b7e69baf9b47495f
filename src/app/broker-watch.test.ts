import { expect, onTestFinished, test } from 'vitest'
import type { BrokerState, JustonceEvent, Subscriber } from '../contracts/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { BrokerWatch } from './broker-watch.ts'

function watching(inspect: () => Promise<BrokerState>) {
  const clock = fakeClock()
  const events: JustonceEvent[] = []
  const driver = { name: 'broker', inspect } as Subscriber
  const emit = (event: JustonceEvent): void => void events.push(event)
  const watch = new BrokerWatch([driver], { clock, events: { emit, listen: () => () => {} } })
  onTestFinished(() => watch.stop())
  watch.start()
  return { clock, events, watch }
}

test('a broker that does not answer is not asked again until it does, because each question holds a connection', async () => {
  const questions: PromiseWithResolvers<BrokerState>[] = []
  const { clock, watch } = watching(() => {
    const question = Promise.withResolvers<BrokerState>()
    questions.push(question)
    return question.promise
  })
  await clock.advance(3_600_000)
  expect(questions).toHaveLength(1)
  expect(watch.known).toEqual([
    {
      name: 'broker',
      warnings: [{ code: 'BROKER_NOT_CHECKED', message: expect.stringContaining('not answered within 10000 ms') }],
    },
  ])
  questions[0]?.resolve({ waiting: 1, warnings: [] })
  while (questions.length < 2) await clock.advance(1_000)
  // The late answer is too old to be told.
  expect(watch.known).toMatchObject([{ warnings: [{ code: 'BROKER_NOT_CHECKED' }] }])
  questions[1]?.resolve({ waiting: 2, warnings: [] })
  await clock.advance(0)
  expect(watch.known).toEqual([{ name: 'broker', waiting: 2, warnings: [] }])
})

test('a driver that throws instead of rejecting is one that does not answer', async () => {
  const { clock, events, watch } = watching(() => {
    throw new Error('no connection')
  })
  // At the start nothing is there yet.
  await clock.advance(1_000)
  expect(watch.known).toEqual([])
  await clock.advance(60_000)
  expect(watch.known).toMatchObject([
    { name: 'broker', warnings: [{ code: 'BROKER_NOT_CHECKED', message: expect.stringContaining('no connection') }] },
  ])
  expect(events).toEqual([])
})
