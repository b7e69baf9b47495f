import { describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import '../crash/long-tests.ts'
import type { BrokenConsumer } from '../crash/fixtures/consumer-config.ts'
import { exactlyOnce, type Verdict } from '../crash/verdict.ts'
import { requireBinaries } from '../servers/require.ts'
import { mountSmallDisk } from '../servers/small-disk.ts'
import { type ChaosOptions, runChaos } from './chaos.ts'
import type { FaultKind } from './faults.ts'
import { report } from './report.ts'
import { type ChaosResult, isUnharmed } from './result.ts'

const postgres = await requireBinaries('postgres')
const mariadb = await requireBinaries('mariadb')
const redis = await requireBinaries('redis')
const canFillDisks = await mountSmallDisk().then(async (disk) => {
  await disk?.[Symbol.asyncDispose]()
  return disk !== undefined
})
const short = { processes: 3, durationMs: 15_000, rate: 40, faultEveryMs: 600 } as const
const ofAServer: readonly FaultKind[] = ['kill', 'stop', 'cut', 'slow', 'half-close', 'refuse', 'server-kill']
/** Another one each time: a failing one tells its seed, and the faults are the same with it. */
const seed = Date.now() % 1_000_000

describe('real processes while everything breaks at random', () => {
  test.concurrent(`sqlite, seed ${seed}: one effect each`, async () => {
    const kinds: readonly FaultKind[] = canFillDisks ? ['kill', 'stop', 'disk-full'] : ['kill', 'stop']
    await struckAndUnharmed({ store: 'sqlite', acknowledging: 'separate' }, kinds)
  })

  test.skipIf(!postgres.available).concurrent(`postgres, seed ${seed}: one effect each`, async () => {
    await struckAndUnharmed({ store: 'postgres', acknowledging: 'inside' }, ofAServer)
  })

  test.skipIf(!mariadb.available).concurrent(`mysql, seed ${seed}: one effect each`, async () => {
    await struckAndUnharmed({ store: 'mysql', acknowledging: 'inside' }, ofAServer)
  })

  test.skipIf(!redis.available).concurrent(`redis, seed ${seed}: one effect each`, async () => {
    await struckAndUnharmed({ store: 'redis', acknowledging: 'separate' }, ofAServer)
  })
})

const found: readonly { consumer: BrokenConsumer; lingersAt: CrashPoint; damage: keyof Verdict }[] = [
  { consumer: 'acknowledges-first', lingersAt: 'between-writes', damage: 'lost' },
  { consumer: 'marks-last', lingersAt: 'after-commit', damage: 'doubled' },
]

// If it said nothing about these, it would prove nothing about the others.
describe('a consumer that does it wrong is detected', () => {
  test.each(found)('$consumer: $damage', async ({ consumer, lingersAt, damage }) => {
    const killed = { ...short, durationMs: 6_000, faultEveryMs: 200, kinds: ['kill'] } as const
    const broken = { consumer, lingersAt }
    // Each finds about every second process where it is vulnerable.
    const isEnough: ChaosOptions['isEnough'] = ({ kill }) => kill >= 25
    const result = await runChaos({ ...killed, seed, broken, isEnough, store: 'sqlite', acknowledging: 'separate' })
    expect(result.verdict[damage].length).toBeGreaterThan(0)
    expect(isUnharmed(result)).toBe(false)
    expect(report([result])).toMatch(new RegExp(`^${damage} +[1-9]`, 'm'))
    expect(report([result])).toContain(`${damage}: ${result.verdict[damage][0]}`)
  })
})

async function struckAndUnharmed(
  place: Pick<ChaosOptions, 'store' | 'acknowledging'>,
  kinds: readonly FaultKind[],
): Promise<void> {
  // On a slow machine, a process may be hit again before it has recovered.
  const isEnough: ChaosOptions['isEnough'] = (struck, { duplicates, recovered }) =>
    kinds.every((kind) => struck[kind] > 0) && duplicates > 0 && recovered > 0
  const result = await runChaos({ ...short, ...place, seed, isEnough })
  expectUnharmed(result)
  for (const kind of kinds) expect(result.faults[kind], kind).toBeGreaterThan(0)
}

function expectUnharmed(result: ChaosResult): void {
  const { verdict, stuck, problems, effects, messages } = result
  expect({ verdict, stuck, problems }, report([result])).toEqual({
    verdict: exactlyOnce,
    stuck: undefined,
    problems: [],
  })
  expect(isUnharmed(result)).toBe(true)
  expect(messages).toBeGreaterThan(0)
  expect(effects).toBe(messages)
  // Otherwise nothing has been asked of it.
  expect(result.duplicates).toBeGreaterThan(0)
  expect(result.recoveries.length).toBeGreaterThan(0)
}
