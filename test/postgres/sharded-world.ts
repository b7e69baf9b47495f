import pg from 'pg'
import type { IncomingMessage } from '../../src/contracts/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'

export const shards = ['eu', 'us', 'asia'] as const
export type Shard = (typeof shards)[number]

export const tenantOf = ({ headers }: IncomingMessage) => String(headers?.tenant)

/** Three databases, each behind a proxy of its own. */
export async function openShards(url: string) {
  const proxies = {} as Record<Shard, FaultProxy>
  const urls = {} as Record<Shard, string>
  const direct = {} as Record<Shard, pg.Pool>
  const pools: pg.Pool[] = []
  for (const shard of shards) {
    const database = await createDatabase(url)
    direct[shard] = new pg.Pool({ connectionString: database, max: 2 })
    await direct[shard].query('CREATE TABLE effects (message text, app text)')
    const { hostname, port } = new URL(database)
    proxies[shard] = await startProxy(hostname, Number(port))
    urls[shard] = proxies[shard].url(database)
    direct[shard].on('error', () => {})
  }
  const openPool = (shard: Shard): pg.Pool => {
    const pool = new pg.Pool({ connectionString: urls[shard], max: 4 })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  return {
    proxies,
    direct,
    /** Stores of one process. */
    openStores: () => ({
      eu: postgresStore({ pool: openPool('eu') }),
      us: postgresStore({ pool: openPool('us') }),
      asia: postgresStore({ pool: openPool('asia') }),
    }),
    async cut(shard: Shard) {
      await proxies[shard].refuse()
      proxies[shard].cutAll()
    },
    async effects(shard: Shard): Promise<readonly string[]> {
      const { rows } = await direct[shard].query<{ message: string }>('SELECT message FROM effects ORDER BY message')
      return rows.map(({ message }) => message)
    },
    async close() {
      for (const pool of pools) await pool.end()
      for (const shard of shards) {
        await direct[shard].end()
        await proxies[shard].stop()
      }
    },
  }
}

export type World = Awaited<ReturnType<typeof openShards>>

export const order = (shard: string, index: number) => ({
  id: `${shard}-${String(index).padStart(3, '0')}`,
  type: 'order.paid',
  body: {},
  headers: { tenant: shard },
})
export const orders = (shard: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => order(shard, from + index))
export const ids = (shard: string, to: number) => orders(shard, 0, to).map(({ id }) => id)
