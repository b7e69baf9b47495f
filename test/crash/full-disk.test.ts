import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import { mountSmallDisk } from '../servers/small-disk.ts'
import './long-tests.ts'
import { exactlyOnce } from './verdict.ts'
import { type Acknowledging, ids, openWorld } from './world.ts'

const disk = await mountSmallDisk()
afterAll(() => disk?.[Symbol.asyncDispose]())

const cases: readonly { point: CrashPoint; acknowledging: Acknowledging; heard: string }[] = [
  { point: 'before-claim', acknowledging: 'inside', heard: 'store-down' },
  { point: 'between-writes', acknowledging: 'inside', heard: 'store-down' },
  { point: 'between-writes', acknowledging: 'separate', heard: 'store-down' },
  { point: 'before-commit', acknowledging: 'separate', heard: 'store-down' },
  // The broker is on the same disk and cannot even take an acknowledgement.
  { point: 'after-commit', acknowledging: 'separate', heard: 'settle-failed' },
]

// What is full in Redis is its memory: see full-memory.test.ts.
describe.skipIf(disk === undefined)('the disk of a SQLite file is full for a while', () => {
  test.each(cases)(
    'from $point on, acknowledged $acknowledging: one effect each when there is room again',
    async ({ point, acknowledging, heard }) => {
      if (disk === undefined) throw new Error('skipped')
      const folder = await mkdtemp(join(disk.path, 'world-'))
      await using world = await openWorld({ acknowledging, folder })
      await world.send(ids(20))
      const child = world.start({ visibilityMs: 1_000, stops: [{ point, message: 'm006', how: 'wait' }] })
      await child.reached(point)
      await disk.fill()
      child.go()
      await child.heard(heard)
      await disk.free()
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(child.all('parked')).toEqual([])
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      await child.stop()
    },
  )
})
