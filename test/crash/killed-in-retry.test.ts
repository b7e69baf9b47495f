import { describe, expect, test } from 'vitest'
import type { Store, StoredParkedMessage } from '../../src/contracts/index.ts'
import type { CrashPoint } from '../../src/testing/index.ts'
import { stores } from './stores.ts'
import { exactlyOnce } from './verdict.ts'

const message = 'm001'
const cases: readonly { point: CrashPoint; runsAgain: boolean }[] = [
  { point: 'after-claim', runsAgain: true },
  { point: 'between-writes', runsAgain: true },
  { point: 'before-commit', runsAgain: true },
  { point: 'after-commit', runsAgain: false },
]

describe.each(stores)('killed in the second attempt of a parked message on $name', (store) => {
  test.skipIf(store.isMissing).concurrent.each(cases)('$point: one effect', async ({ point, runsAgain }) => {
    await using world = await store.open(store.acknowledgings[0])
    await world.send([message])
    // The first process never tries again, and the second finds nothing but the parked message.
    const parking = world.start({ failing: [message], retryDelayMs: 600_000 })
    await parking.heard('parked')
    await parking.stop()
    await makeDue(world.store)

    // The follow-up of a committed attempt may be in its hands when it dies.
    const dying = world.start({ visibilityMs: 400, stops: [{ point, message, how: 'die' }] })
    await dying.reached(point)
    expect(await dying.ended).toEqual({ code: null, signal: 'SIGKILL' })
    expect(dying.all('delivered').flatMap(({ keys = [] }) => keys)).not.toContain(message)

    const next = world.start()
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
    await next.stop()
    expect(next.all('running').length).toBe(runsAgain ? 1 : 0)
  })
})

async function makeDue(store: Store): Promise<void> {
  const [parked] = await store.parking.list()
  expect(parked).toMatchObject({ key: message, attempts: 1 })
  const { handler, key, attempts, reason, errors, shape } = parked as StoredParkedMessage
  await store.transaction((tx) =>
    store.parking.change(tx, [{ kind: 'again', handler, key, attempts, reason, errors, shape, delayMs: 0 }]),
  )
}
