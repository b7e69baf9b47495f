import { describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import type { BrokenConsumer } from './fixtures/consumer-config.ts'
import { onRedis, onSqlite } from './stores.ts'
import { exactlyOnce, judge, type Verdict } from './verdict.ts'
import { ids } from './world.ts'

// What these tests would say about consumers that leave a gap. If they said nothing, the others would prove nothing.
const message = 'm002'
const found: readonly { broken: BrokenConsumer; point: CrashPoint; verdict: Partial<Verdict> }[] = [
  { broken: 'marks-first', point: 'between-writes', verdict: { lost: [message] } },
  { broken: 'marks-last', point: 'after-commit', verdict: { doubled: [message] } },
  { broken: 'acknowledges-first', point: 'between-writes', verdict: { lost: [message] } },
  { broken: 'writes-outside', point: 'between-writes', verdict: { torn: [message] } },
]

describe.each([onSqlite, onRedis])('a consumer that does it wrong on $name is detected', (store) => {
  test.skipIf(store.isMissing).concurrent.each(found)('$broken, killed $point', async ({ broken, point, verdict }) => {
    await using world = await store.open('separate')
    await world.send(ids(3))
    const dying = world.start({ broken, visibilityMs: 300, stops: [{ point, message, how: 'die' }] })
    await dying.reached(point)
    expect(await dying.ended).toEqual({ code: null, signal: 'SIGKILL' })

    const next = world.start({ broken, visibilityMs: 300 })
    await next.until(({ event, keys }) => event === 'processed' && keys?.includes('m003') === true, 'm003 processed')
    await world.untilDrained()
    expect(await world.verdict([1, 2])).toEqual({ ...exactlyOnce, ...verdict })
  })

  test.skipIf(store.isMissing).concurrent('two processes that look before they write', async () => {
    await using world = await store.open('separate')
    await world.send([message], ['notes', 'copies'])
    const stop = { point: 'before-claim', message, how: 'wait' } as const
    const rivals = ['notes', 'copies'].map((queue) => world.start({ queue, broken: 'marks-last', stops: [stop] }))
    for (const rival of rivals) await rival.reached('before-claim')
    for (const rival of rivals) rival.go()
    await world.untilDrained()
    expect(await world.verdict([1, 2])).toEqual({ ...exactlyOnce, doubled: [message] })
  })
})

test('the verdict tells lost, torn and doubled apart', () => {
  const row = (name: string, part: number) => ({ message: name, part })
  const ledger = [row('once', 1), row('once', 2), row('half', 1), row('twice', 1), row('twice', 2), row('twice', 1)]
  expect(judge(['once', 'half', 'twice', 'gone'], [1, 2], ledger)).toEqual({
    lost: ['gone'],
    torn: ['half'],
    doubled: ['twice'],
  })
})
