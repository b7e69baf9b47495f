import fc from 'fast-check'
import { expect, test } from 'vitest'
import { write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import type { Delivery } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import type { MemoryStore, MemoryTx } from '../../stores/memory/index.ts'
import { recordOf } from '../../testing/sample-records.ts'
import { toIncoming } from '../../transports/memory/message-to-send.ts'
import { handleDeliveries } from './handle-deliveries.ts'

type Fault = 'none' | 'conflict' | 'lost commit' | 'lost before commit' | 'unavailable'

interface Scenario {
  /** Numbers of messages, in batches as they arrive; the same number again is a copy. */
  readonly batches: readonly (readonly number[])[]
  /** How often the handlers of a message fail before they succeed, by its number. */
  readonly failures: readonly number[]
  /** What happens to the first transactions, one after the other. */
  readonly faults: readonly Fault[]
  /** How long each handler takes; a batch plans with 10 ms. */
  readonly handlerMs: number
}

const messageCount = 12
const types = ['each', 'batch', 'own', 'many'] as const
const handlersOf = { each: ['one'], batch: ['all'], own: ['alone'], many: ['first', 'gathered', 'last'] } as const
const typeOf = (number: number) => types[number % types.length] as (typeof types)[number]

const scenario: fc.Arbitrary<Scenario> = fc.record({
  batches: fc.array(fc.array(fc.nat(messageCount - 1), { minLength: 1, maxLength: 10 }), {
    minLength: 1,
    maxLength: 4,
  }),
  failures: fc.array(fc.nat(2), { minLength: messageCount, maxLength: messageCount }),
  faults: fc.array(
    fc.constantFrom<Fault>('none', 'none', 'conflict', 'lost commit', 'lost before commit', 'unavailable'),
    { maxLength: 12 },
  ),
  handlerMs: fc.constantFrom(0, 15, 50),
})

test('whatever fails, every message takes effect once and is acknowledged once', async () => {
  await fc.assert(fc.asyncProperty(scenario, run), { numRuns: 60 })
})

async function run({ batches, failures, faults, handlerMs }: Scenario): Promise<void> {
  const opened = openEngine({ batch: { budgetMs: 10 } })
  const { engine, feed, store, clock, effects, retry } = opened
  Object.assign(engine, { store: withFaults(store, [...faults]) })
  const failed = new Map<string, number>()
  const options = (name: string) => ({ name, retry: { attempts: 99, backoff: () => 1_000 } })

  /** One handler's effect on one message, or its failure, and the check that what it follows is done. */
  const work = (tx: MemoryTx, handler: string, id: string): void => {
    write(tx, `${handler} ${id}`)
    const chain: readonly string[] = handlersOf[typeOf(Number(id))]
    const before = chain[chain.indexOf(handler) - 1]
    if (before !== undefined && !tx.has(`${before} ${id}`)) throw new Error(`${handler} ran before ${before}`)
    const sofar = failed.get(`${handler} ${id}`) ?? 0
    if (sofar >= (failures[Number(id)] ?? 0)) return
    failed.set(`${handler} ${id}`, sofar + 1)
    throw new Error('not yet')
  }
  const each = (type: string, handler: string, transaction?: 'own') =>
    opened.on(type, { ...options(handler), ...(transaction && { transaction }) }, async ({ id }, { tx }) => {
      if (handlerMs > 0) await clock.sleep(handlerMs)
      work(tx, handler, id)
    })
  const batch = (type: string, handler: string) =>
    opened.onBatch(type, options(handler), (messages, { tx }) => {
      for (const { id } of messages) work(tx, handler, id)
    })
  each('each', 'one')
  batch('batch', 'all')
  each('own', 'alone', 'own')
  each('many', 'first')
  batch('many', 'gathered')
  each('many', 'last')

  const deliveries: Delivery[] = []
  for (const numbers of batches) {
    const arrived = numbers.map((number) => ({
      message: toIncoming(
        { id: String(number), type: typeOf(number), body: { number }, key: `k${number % 3}` },
        'test',
      ),
    }))
    deliveries.push(...arrived)
    await untilSettled(arrived)
  }
  await untilNothingIsParked()

  const numbers = new Set(batches.flat())
  const expected = [...numbers].flatMap((number) => handlersOf[typeOf(number)].map((handler) => `${handler} ${number}`))
  expect(effects()).toEqual(Object.fromEntries(expected.map((name) => [name, 1])))
  expect(opened.acknowledged().toSorted()).toEqual(deliveries.map(({ message }) => message.id).toSorted())
  expect(await countParked(store)).toBe(0)
  for (const name of expected) {
    const [handler = '', key = ''] = name.split(' ')
    expect(await recordOf(store, { handler, key })).toMatchObject({ state: 'processed' })
  }

  /** As the consumer does it: what was not begun or is held comes again, and so does all that an outage left. */
  async function untilSettled(arrived: readonly Delivery[]): Promise<void> {
    let left = arrived
    for (let rounds = 0; left.length > 0; rounds++) {
      expect(rounds).toBeLessThan(100)
      const { down, again, held, settled } = await withTime(handleDeliveries(engine, feed, left))
      left = down === undefined ? [...again, ...held] : left.filter((delivery) => !settled.includes(delivery))
    }
  }

  async function untilNothingIsParked(): Promise<void> {
    for (let rounds = 0; (await countParked(store)) > 0; rounds++) {
      expect(rounds).toBeLessThan(500)
      await clock.advance(1_000)
      await withTime(retry().catch(() => false))
    }
  }

  /** Lets time pass until it is done. */
  async function withTime<T>(pending: Promise<T>): Promise<T> {
    let isDone = false
    const watched = pending.finally(() => {
      isDone = true
    })
    while (!isDone) await clock.advance(20)
    return await watched
  }
}

const conflict = new Error('deadlock')
const outage = new Error('connection refused')

function withFaults(store: MemoryStore, faults: Fault[]): MemoryStore {
  return {
    ...store,
    classify: (error) => (error === conflict ? 'conflict' : error === outage ? 'unavailable' : store.classify(error)),
    async transaction(work, options) {
      const fault = faults.shift() ?? 'none'
      if (fault === 'unavailable') throw outage
      const value = await store.transaction(async (tx) => {
        const result = await work(tx)
        if (fault === 'conflict') throw conflict
        if (fault === 'lost before commit') throw new JustonceError('COMMIT_UNKNOWN', { message: 'Lost on the way.' })
        return result
      }, options)
      if (fault === 'lost commit') throw new JustonceError('COMMIT_UNKNOWN', { message: 'The answer is lost.' })
      return value
    },
  }
}
