import { describe, expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import type { End } from './consumer-child.ts'
import type { ConsumerConfig, Poison } from './fixtures/consumer-config.ts'
import { stores } from './stores.ts'
import { Supervisor } from './supervisor.ts'
import { exactlyOnce } from './verdict.ts'
import { ids, type World } from './world.ts'

const poisoned = 'm030'
const [visibilityMs, timeoutMs] = [500, 600]

interface PoisonCase {
  readonly title: string
  readonly poison: Omit<Poison, 'message'>
  readonly config?: Partial<ConsumerConfig>
}

const deadly: readonly PoisonCase[] = [
  { title: 'aborts', poison: { how: 'abort' } },
  { title: 'takes all memory', poison: { how: 'exhaust' }, config: { heapMb: 64 } },
  { title: 'fails, and aborts when it is retried', poison: { how: 'abort-later' } },
]
// What runs beside it loses its time, too, and must not come back with it every time.
const retryDelayMs = 1_000
const blocking: readonly PoisonCase[] = [
  { title: 'the handler may take', poison: { how: 'block', blocksForMs: timeoutMs * 3 }, config: { retryDelayMs } },
  {
    title: 'the database waits',
    poison: { how: 'block', blocksForMs: timeoutMs * 3 },
    config: { retryDelayMs, idleTimeoutMs: timeoutMs * 2 },
  },
]
const aborted = { code: null, signal: 'SIGABRT' } as const

describe.each(stores)('one of sixty messages on $name', (store) => {
  test.skipIf(store.isMissing).concurrent.each(deadly)(
    '$title: a dead letter after as many deaths as it has attempts, and the others take effect once',
    async ({ poison, config }) => {
      await using world = await store.open(store.acknowledgings[0])
      const deaths = await survive(world, { poison: { message: poisoned, ...poison }, ...config }, 'PROCESS_DIED')
      expect(deaths).toEqual([aborted, aborted, aborted])
    },
  )

  test.skipIf(store.isMissing).each(blocking)(
    'blocks the process for longer than $title: a dead letter, and the others take effect once',
    async ({ poison, config }) => {
      await using world = await store.open(store.acknowledgings[0])
      const all = { poison: { message: poisoned, ...poison }, timeoutMs, ...config }
      expect(await survive(world, all, 'HANDLER_TIMEOUT')).toEqual([])
    },
  )
})

/** Resolves to how processes have ended until the poison was a dead letter; after that the process stays. */
async function survive(world: World, config: Partial<ConsumerConfig>, reason: string): Promise<readonly End[]> {
  await world.send(ids(60))
  await using supervisor = new Supervisor(world, { visibilityMs, ...config })
  await untilOnlyPoisonIsLeft(world)
  expect(await deadLetters(world)).toEqual([[poisoned, reason]])
  expect(await world.verdict()).toEqual({ ...exactlyOnce, lost: [poisoned] })
  const deaths = [...supervisor.deaths]

  const survivor = supervisor.child
  await world.send(['later-1', 'later-2', 'later-3'])
  await untilOnlyPoisonIsLeft(world)
  expect(await deadLetters(world)).toEqual([[poisoned, reason]])
  expect(await world.verdict()).toEqual({ ...exactlyOnce, lost: [poisoned] })
  await supervisor.stop()
  expect(supervisor.child).toBe(survivor)
  return deaths
}

async function untilOnlyPoisonIsLeft(world: World): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const { queued, outgoing } = await world.remaining()
    return queued + outgoing === 0 && (await countParked(world.store, { state: 'waiting' })) === 0
  }
  // Whatever leaves the queue may be parked, and the other way round: seen empty twice it is neither.
  await world.until(async () => (await isSo()) && (await isSo()), 'All being done but for dead letters')
}

async function deadLetters({ store }: World): Promise<(readonly [key: string, reason: string])[]> {
  return (await store.parking.list({ state: 'dead' })).map(({ key, reason }) => [key, reason] as const)
}
