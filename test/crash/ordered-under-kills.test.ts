import { describe, expect, test } from 'vitest'
import { Random } from '../simulator/random.ts'
import type { ChildEvent } from './fixtures/consumer-config.ts'
import { outOfOrder, steps } from './order-verdict.ts'
import { stores } from './stores.ts'
import { Supervisor } from './supervisor.ts'
import { exactlyOnce } from './verdict.ts'

/** `JUSTONCE_LONG_TESTS=1` asks for all of it; without, enough to see that it works. */
const isLong = process.env.JUSTONCE_LONG_TESTS === '1'
const [keys, each, kills] = isLong ? [200, 50, 30] : [40, 25, 8]
const patienceMs = isLong ? 300_000 : 60_000
const processes = 3
const failures = { share: 0.05, times: 2 }
const times = { visibilityMs: 500, retryDelayMs: 20, batchMax: 10 }
/** Another one each time. It decides what fails and who is killed; what that one is doing is up to the machine. */
const seed = Date.now() % 1_000_000

describe.each(stores)(`${keys} keys with ${each} messages each, kept in order, on $name`, (store) => {
  test.skipIf(store.isMissing)(
    `${processes} processes, killed ${kills} times, seed ${seed}: in order, one effect each`,
    async () => {
      const random = new Random(seed)
      const messages = steps(keys, each)
      const failing = messages.map(({ id }) => id).filter(() => random.chance(failures.share))
      const heard = { processed: 0, failed: 0, redelivered: 0 }
      const hear = ({ event, reason, counts = [] }: ChildEvent): void => {
        if (event === 'processed') heard.processed++
        else if (event === 'parked' && reason === 'HANDLER_FAILED') heard.failed++
        else if (event === 'delivered') heard.redelivered += counts.filter((count) => count > 1).length
      }
      await using world = await store.open(store.acknowledgings[0])
      await world.publish(messages)
      const config = { ...times, steps: { failing, failures: failures.times } }
      const supervisors = Array.from({ length: processes }, () => new Supervisor(world, config, hear))
      const begunAt = performance.now()

      // One of those at work, again and again while the first half is done: there always is something in its hands.
      const atWork = (): Supervisor[] => supervisors.filter(({ child }) => child.all('processed').length > 0)
      for (let kill = 1; kill <= kills; kill++) {
        const enough = (messages.length / 2 / kills) * kill
        await world.until(async () => heard.processed >= enough && atWork().length > 0, `${enough} messages being done`)
        await random.pick(atWork()).kill()
      }
      const killedMs = performance.now() - begunAt
      await world.untilDrained(patienceMs)
      const allMs = performance.now() - begunAt
      for (const supervisor of supervisors) await supervisor.stop()

      expect(await world.verdict([1])).toEqual(exactlyOnce)
      expect(outOfOrder(await world.readLedger(), each)).toEqual([])
      // Otherwise nothing has been asked of it.
      expect(heard.failed).toBeGreaterThan(failing.length)
      expect(heard.redelivered).toBeGreaterThan(0)
      if (isLong) console.log(store.name, { killedMs, allMs, failing: failing.length, ...heard })
    },
    patienceMs + 120_000,
  )
})
