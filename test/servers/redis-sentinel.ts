import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, localhost } from './address.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'
import { redis } from './redis.ts'
import { giveTo } from './system-user.ts'

/** A Sentinel that watches one primary, and makes its replica the next one half a second after it has gone. */
export async function startSentinel(name: string, primaryPort: number): Promise<OwnServer & { readonly port: number }> {
  const port = await freePort()
  const server = await startOwnServer(redis, {
    url: `redis://${localhost}:${port}`,
    user: 'redis',
    endSignal: 'SIGTERM',
    prepare(folder, binaries) {
      // It writes down there what it has learnt.
      const file = join(folder.make('data'), 'sentinel.conf')
      const lines = [
        `port ${port}`,
        `bind ${localhost}`,
        `dir ${join(folder.path, 'data')}`,
        `sentinel monitor ${name} ${localhost} ${primaryPort} 1`,
        `sentinel down-after-milliseconds ${name} 500`,
        `sentinel failover-timeout ${name} 10000`,
      ]
      writeFileSync(file, `${lines.join('\n')}\n`)
      giveTo(folder.runAs, file)
      return { start: [binaries['redis-server']!, file, '--sentinel'] }
    },
  })
  return { ...server, port }
}
