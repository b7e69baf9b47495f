import { redisStore } from '../../src/stores/redis/index.ts'
import { redisClient, startRedis } from '../../test/servers/redis.ts'
import type { Seen } from '../transfers/tables.ts'
import { startTransfers } from './app.ts'
import type { Ground } from './ground.ts'

const aDayMs = 24 * 3_600_000

export async function openRedis(): Promise<Ground> {
  // The file is not rewritten meanwhile: that would hit the one that happens to be measured.
  const server = await startRedis({ settings: { 'auto-aof-rewrite-percentage': 0 } })
  const client = redisClient(server.url)
  await client.connect()
  return {
    name: 'redis-isolated',
    about: `Redis ${server.version} over node-redis, appendonly, appendfsync everysec; bare ones one after the other`,
    bareConcurrency: 1,
    async applyBare(id, { account, amount }) {
      await client.multi().rPush('ledger', `${id} ${amount}`).hIncrBy('balances', String(account), amount).exec()
    },
    startApp: (transport) => {
      const store = redisStore({ client, mode: 'isolated', recordTtlMs: aDayMs, onWarning: () => {} })
      return startTransfers(store, transport, async (tx, id, { account, amount }) => {
        await tx.command('RPUSH', 'ledger', `${id} ${amount}`)
        await tx.command('HINCRBY', 'balances', String(account), amount)
      })
    },
    empty: async () => void (await client.flushAll()),
    async look(): Promise<Seen> {
      const entries = (await client.lRange('ledger', 0, -1)).map((entry) => entry.split(' '))
      return {
        entries: entries.length,
        transfers: new Set(entries.map(([id]) => id)).size,
        amount: sum(entries.map(([, amount]) => amount)),
        balance: sum(await client.hVals('balances')),
      }
    },
    async close() {
      client.destroy()
      await server.stop()
    },
  }
}

function sum(texts: readonly (string | undefined)[]): number {
  return texts.reduce((total, text) => total + Number(text), 0)
}
