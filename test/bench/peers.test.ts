import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownContestants } from '../../bench/peers/contestants.ts'
import { type Grounds, openGrounds } from '../../bench/peers/grounds.ts'
import { replaceParts } from '../../bench/peers/page.ts'
import { measureSpeed } from '../../bench/peers/speed.ts'
import { correctnessLines, settingLines, speedLines } from '../../bench/peers/tables.ts'
import { runTrial, type TrialName } from '../../bench/peers/trials.ts'
import { makeWorkload } from '../../bench/transfers/workload.ts'
import { requireBinaries } from '../servers/require.ts'

const postgres = await requireBinaries('postgres')
const redis = await requireBinaries('redis')

const messages = 40

function contestant(name: string) {
  const found = ownContestants.find((contestant) => contestant.name === name)
  if (found === undefined) throw new Error(`There is no contestant called ${name}.`)
  return found
}

describe.skipIf(!postgres.available || !redis.available)('bench -- peers, without the peers', () => {
  let grounds: Grounds
  beforeAll(async () => {
    grounds = await openGrounds()
  })
  afterAll(() => grounds.close())

  const run = (name: string, trial: TrialName) => runTrial(contestant(name), grounds, trial, { messages, kills: 2 })

  test('a consumer and a queue are measured, and correct', async () => {
    const workload = makeWorkload({ messages, seed: 1, keyed: false, duplicateShare: 0 })
    for (const name of ['bare transaction', 'justonce: database queue'])
      expect(await measureSpeed(contestant(name), grounds, workload)).toMatchObject({
        deliveries: messages,
        correct: true,
      })
  }, 120_000)

  test('what is doubled is seen', async () => {
    const doubled = { lost: 0, doubled: messages, left: 0, givenUp: 0 }
    expect(await run('bare transaction', 'duplicates')).toEqual(doubled)
    expect(await run('bare transaction', 'copies')).toEqual(doubled)
  }, 120_000)

  test('what is lost is seen: a key that was set by a process that died', async () => {
    const everythingTaken = contestant('Redis SET NX by hand')
    const takenBefore: typeof everythingTaken = {
      ...everythingTaken,
      async install({ redisUrl }) {
        const { createClient } = await import('redis')
        const client = await createClient({ url: redisUrl }).connect()
        const { deliveries } = makeWorkload({ messages, seed: 5, keyed: false, duplicateShare: 0 })
        for (const { id } of deliveries.slice(0, 3)) await client.set(id as string, '1')
        await client.close()
      },
    }
    const result = await runTrial(takenBefore, grounds, 'duplicates', { messages, kills: 0 })
    expect(result).toEqual({ lost: 3, doubled: 0, left: 0, givenUp: 0 })
  }, 120_000)

  test.each(['justonce: handlers', 'justonce: database queue'])(
    '%s: nothing is lost or doubled',
    async (name) => {
      const nothing = { lost: 0, doubled: 0, left: 0, givenUp: 0 }
      expect(await run(name, 'copies')).toEqual(nothing)
      expect(await run(name, 'kills')).toEqual(nothing)
    },
    240_000,
  )

  test('a message that waits longer than anybody is called waiting', async () => {
    const never = contestant('bare transaction')
    if (never.kind !== 'consumer') throw new Error('It is a consumer.')
    // The worker process looks it up by its name, and by this name it finds the queue, which nobody fills.
    const asleep = {
      ...never,
      name: 'justonce: database queue',
      install: contestant('justonce: database queue').install,
    }
    const result = await runTrial(asleep, grounds, 'copies', { messages, kills: 0, atMostMs: 100 })
    expect(result).toEqual({ lost: messages, doubled: 0, left: 2 * messages, givenUp: 0 })
  }, 120_000)
})

test('only what is between the markers of a part is replaced', () => {
  const page = 'by hand\n<!-- generated: speed -->\nold\n<!-- end: speed -->\nby hand, too\n'
  expect(replaceParts(page, { speed: 'new' })).toBe(
    'by hand\n<!-- generated: speed -->\n\nnew\n\n<!-- end: speed -->\nby hand, too\n',
  )
  expect(() => replaceParts(page, { correctness: 'new' })).toThrow('has no part between')
})

test('the tables say what was measured, lost and doubled, and with which setting', () => {
  const contestants = ownContestants.filter(({ name }) => /bare|queue/.test(name))
  const row = { perSecond: 10, ratio: 0.5, correct: true }
  expect(
    speedLines(
      contestants.map(({ name }) => ({ name, ...row })),
      contestants,
    ).slice(1),
  ).toEqual([
    ['bare transaction', 'handling', '10', '0.50', 'yes'],
    ['justonce: database queue', 'sending and handling', '10', '0.50', 'yes'],
  ])
  const trials = {
    duplicates: { lost: 0, doubled: 1, left: 0, givenUp: 0 },
    copies: { lost: 2, doubled: 0, left: 3, givenUp: 0 },
    kills: { lost: 4, doubled: 5, left: 0, givenUp: 4 },
  }
  expect(correctnessLines([{ name: 'it', trials }])[1]).toEqual([
    'it',
    '0',
    '1',
    '2 (3 waiting)',
    '0',
    '4 (4 given up)',
    '5',
  ])
  const library = { ...contestant('bare transaction'), name: 'it', package: 'a-library', setting: 'defaults' }
  expect(settingLines([library], () => '1.2.3')[1]).toEqual(['it', '`a-library` 1.2.3', 'defaults'])
})
