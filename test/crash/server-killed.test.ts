import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/testing/index.ts'
import { type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { requireBinaries } from '../servers/require.ts'
import './long-tests.ts'
import { exactlyOnce } from './verdict.ts'
import { type Acknowledging, ids, openWorld } from './world.ts'

const postgres = await requireBinaries('postgres')
const cases: readonly { point: CrashPoint; acknowledging: Acknowledging }[] = [
  { point: 'between-writes', acknowledging: 'inside' },
  { point: 'between-writes', acknowledging: 'separate' },
  { point: 'before-commit', acknowledging: 'separate' },
  { point: 'after-commit', acknowledging: 'separate' },
]

describe.skipIf(!postgres.available)('kill -9 of the Postgres server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => server?.stop())

  test.each(cases)('$point, acknowledged $acknowledging: one effect each', async ({ point, acknowledging }) => {
    await using world = await openWorld({ acknowledging, postgresUrl: server.url })
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
  })
})
