import { describe, expect, test } from 'vitest'
import { onPostgres, onRedis, stores } from './stores.ts'
import { exactlyOnce } from './verdict.ts'
import { ids } from './world.ts'

const queues = ['notes', 'copies']
/** However slow this machine is, nobody gets the claims of a process that lives. */
const idleTimeoutMs = 20_000

describe.each([onPostgres, onRedis])('two transactions open on $name', (store) => {
  test.skipIf(store.isMissing).concurrent('when they claim the same messages: one of them runs', async () => {
    await using world = await store.open('separate')
    await world.send(ids(3), queues)
    const stops = [{ point: 'before-claim', message: 'm001', how: 'wait' }] as const
    const rivals = queues.map((queue) => world.start({ queue, idleTimeoutMs, stops }))
    for (const rival of rivals) await rival.reached('before-claim')
    for (const rival of rivals) rival.go()
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
    // What they say may be read later than what they have done.
    for (const rival of rivals) await rival.stop()
    expect(rivals.flatMap((rival) => rival.all('running')).length).toBe(3)
  })
})

describe.each(stores)('two processes with the same message on $name', (store) => {
  test.skipIf(store.isMissing).concurrent.each([1, 6])(
    'at the same instant, %i at a time: the handler of one of them runs',
    async (size) => {
      await using world = await store.open('separate')
      const rivals = queues.map((queue) => world.start({ queue, idleTimeoutMs, waitsWhenDelivered: true }))
      for (const rival of rivals) await rival.heard('started')
      for (let round = 1; round <= 8; round++) {
        const sent = ids(size).map((id) => `${round}-${id}`)
        await world.send(sent, queues)
        const last = sent.at(-1) as string
        for (const rival of rivals) {
          await rival.until(({ event, keys }) => event === 'delivered' && keys?.includes(last) === true, last)
        }
        for (const rival of rivals) rival.go()
        await world.untilDrained()
      }
      expect(await world.verdict()).toEqual(exactlyOnce)
      for (const rival of rivals) await rival.stop()
      const ran = rivals.flatMap((rival) => rival.all('running').map(({ message }) => message))
      expect(ran.length).toBe(size * 8)
      expect(new Set(ran).size).toBe(size * 8)
    },
  )

  test.skipIf(store.isMissing).concurrent('the first is killed with its claim open: the second does it', async () => {
    await using world = await store.open('separate')
    await world.send(ids(1), queues)
    const first = world.start({ queue: 'notes', visibilityMs: 300, stops: [{ point: 'between-writes', how: 'wait' }] })
    await first.reached('between-writes')
    const second = world.start({ queue: 'copies' })
    await second.heard('delivered')
    await first.kill()
    await second.until(({ event, keys }) => event === 'processed' && keys?.includes('m001') === true, 'm001 processed')
    const third = world.start({ queue: 'notes' })
    await world.untilDrained()
    expect(await world.verdict()).toEqual(exactlyOnce)
    await third.stop()
    expect(third.all('running')).toEqual([])
  })
})
