import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import '../crash/long-tests.ts'
import type { ConsumerChild } from '../crash/consumer-child.ts'
import { kafkaBroker, sessionTimeoutMs } from '../crash/real-brokers.ts'
import { openWorld } from '../crash/world.ts'
import { requireServer } from '../servers/require.ts'
import { expectOnceInOrder, keysOfPartitions, sendNumbers } from './partition-order.ts'

const kafka = await requireServer('kafka')
const postgres = await requireServer('postgres')

/** `JUSTONCE_LONG_TESTS=1` asks for all of it; without, enough to see that it works. */
const isLong = process.env.JUSTONCE_LONG_TESTS === '1'
const dedups = isLong ? (['position', 'both', 'id'] as const) : (['position'] as const)
const freezes = isLong ? 15 : 3

// Frozen is not dead: nobody is to be blamed for it, however often it happens.
const settings = { idleTimeoutMs: 1_500, batchMax: 4, publishes: false, attempts: 100 } as const
const keys = keysOfPartitions(4)

describe.skipIf(!kafka.available || !postgres.available)('processes that are frozen at random', () => {
  test.each(dedups)('known by %s: one effect each, in order', async (dedup) => {
    const broker = await kafkaBroker(kafka.url, { dedup, partitions: keys.length })
    await using world = await openWorld({ acknowledging: 'separate', broker, postgresUrl: postgres.url })
    const children = [1, 2, 3].map(() => world.start(settings))
    for (const child of children) await child.heard('started')

    const storm = { isOver: false }
    const blow = async (): Promise<void> => {
      for (let count = 0; count < freezes; count++) {
        const child = children[Math.floor(Math.random() * children.length)] as ConsumerChild
        child.signal('SIGSTOP')
        // Some are back before anybody has noticed, some long after.
        await pause(Math.random() * 3 * sessionTimeoutMs)
        child.signal('SIGCONT')
        await pause(Math.random() * sessionTimeoutMs)
      }
      storm.isOver = true
    }
    const blowing = blow()
    let sent = 0
    while (!storm.isOver) {
      sent++
      await sendNumbers(world, keys, sent, sent)
      await pause(30)
    }
    await blowing
    await world.untilDrained(60_000)
    await expectOnceInOrder(world, keys, sent)
    for (const child of children) await child.stop()
    expect(await world.remaining()).toEqual({ queued: 0, outgoing: 0, parked: 0 })
    expect(children.flatMap((child) => child.all('settled-again'))).toEqual([])
  })
})
