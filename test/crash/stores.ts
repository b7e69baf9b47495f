import './long-tests.ts'
import { requireServer } from '../servers/require.ts'
import { type Acknowledging, openWorld, type World } from './world.ts'

const postgres = await requireServer('postgres')
const mariadb = await requireServer('mariadb')
const redis = await requireServer('redis')

/** A kind of database that crash tests run on. */
export interface StoreUnderTest {
  readonly name: string
  readonly isMissing: boolean
  /** Which are possible; the first is for tests to which it makes no difference. */
  readonly acknowledgings: readonly [Acknowledging, ...Acknowledging[]]
  open(acknowledging: Acknowledging): Promise<World>
}

export const onSqlite: StoreUnderTest = {
  name: 'sqlite',
  isMissing: false,
  acknowledgings: ['inside', 'separate'],
  open: (acknowledging) => openWorld({ acknowledging }),
}

export const onPostgres = postgresOver('pg')

/** For tests in which it matters how a client pipelines its statements. */
export const onPostgresJs = postgresOver('postgres.js')

function postgresOver(library: 'pg' | 'postgres.js'): StoreUnderTest {
  return {
    name: library === 'pg' ? 'postgres' : 'postgres over postgres.js',
    isMissing: !postgres.available,
    acknowledgings: ['inside', 'separate'],
    open: (acknowledging) => openWorld({ acknowledging, postgresUrl: postgres.url, postgresLibrary: library }),
  }
}

export const onMysql: StoreUnderTest = {
  name: 'mysql',
  isMissing: !mariadb.available,
  acknowledgings: ['inside', 'separate'],
  open: (acknowledging) => openWorld({ acknowledging, mariadbUrl: mariadb.url }),
}

export const onRedis = redisOver('ioredis')

/** For tests in which it matters how a client gets over a broken connection: this one does not send again. */
export const onNodeRedis = redisOver('redis')

/** The mode `isolated`: in the other one the effects live elsewhere, and nobody promises one of each. */
function redisOver(library: 'ioredis' | 'redis'): StoreUnderTest {
  return {
    name: library === 'ioredis' ? 'redis' : 'redis over node-redis',
    isMissing: !redis.available,
    // There is no queue in Redis that could be part of the commit.
    acknowledgings: ['separate'],
    open: (acknowledging) => openWorld({ acknowledging, redis: { url: redis.url, library } }),
  }
}

export const stores: readonly StoreUnderTest[] = [onSqlite, onPostgres, onMysql, onRedis]
