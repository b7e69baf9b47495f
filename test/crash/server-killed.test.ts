import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import { startMariadb } from '../servers/mariadb.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import './long-tests.ts'
import { exactlyOnce } from './verdict.ts'
import { type Acknowledging, ids, openWorld, type WorldOptions } from './world.ts'

interface MortalServer {
  readonly url: string
  kill9(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

interface KilledServer {
  readonly name: string
  readonly isMissing: boolean
  readonly acknowledgings: readonly Acknowledging[]
  readonly points: readonly CrashPoint[]
  start(): Promise<MortalServer>
  worldAt(url: string): Omit<WorldOptions, 'acknowledging'>
}

const postgres = await requireBinaries('postgres')
const mariadb = await requireBinaries('mariadb')
const redis = await requireBinaries('redis')
const points: readonly CrashPoint[] = ['between-writes', 'before-commit', 'after-commit']
const redisOver = (library: 'ioredis' | 'redis', points: readonly CrashPoint[]): KilledServer => ({
  name: `Redis over ${library === 'redis' ? 'node-redis' : library}`,
  isMissing: !redis.available,
  acknowledgings: ['separate'],
  points,
  // What was answered is on disk.
  start: () => startRedis({ settings: { appendonly: 'yes', appendfsync: 'always' } }),
  worldAt: (url) => ({ redis: { url, library } }),
})
const servers: readonly KilledServer[] = [
  {
    name: 'Postgres',
    isMissing: !postgres.available,
    acknowledgings: ['inside', 'separate'],
    points,
    start: () => startPostgres(),
    worldAt: (url) => ({ postgresUrl: url }),
  },
  {
    name: 'MariaDB',
    isMissing: !mariadb.available,
    acknowledgings: ['inside', 'separate'],
    points,
    start: () => startMariadb(),
    worldAt: (url) => ({ mariadbUrl: url }),
  },
  redisOver('ioredis', points),
  // It does not send again what was not answered: that matters to the commit.
  redisOver('redis', ['before-commit']),
]

const all: readonly { point: CrashPoint; acknowledging: Acknowledging }[] = [
  { point: 'between-writes', acknowledging: 'inside' },
  { point: 'between-writes', acknowledging: 'separate' },
  { point: 'before-commit', acknowledging: 'separate' },
  { point: 'after-commit', acknowledging: 'separate' },
]

describe.each(servers)('kill -9 of $name', ({ isMissing, acknowledgings, points, start, worldAt }) => {
  let server: MortalServer
  beforeAll(async () => {
    if (!isMissing) server = await start()
  })
  afterAll(async () => server?.stop())

  const cases = all.filter((each) => acknowledgings.includes(each.acknowledging) && points.includes(each.point))
  test.skipIf(isMissing).each(cases)(
    '$point, acknowledged $acknowledging: one effect each',
    async ({ point, acknowledging }) => {
      await using world = await openWorld({ acknowledging, ...worldAt(server.url) })
      await world.send(ids(20))
      const stops = [{ point, message: 'm006', how: 'wait' }] as const
      const child = world.start({ visibilityMs: 2_000, stops })
      await child.reached(point)
      await server.kill9()
      child.go()
      await child.heard('store-down')
      await server.restart()
      await world.untilDrained()
      expect(await world.verdict()).toEqual(exactlyOnce)
      expect(child.all('settled').filter(({ settlement }) => settlement === 'release')).toEqual([])
      await child.stop()
    },
  )
})
