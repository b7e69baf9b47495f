import type { Leases } from '../../contracts/index.ts'
import type { Connection } from './connection.ts'
import { acquireScript, holdScript } from './scripts/small.ts'

export function redisLeases(connection: Connection): Leases {
  const hold = async (name: string, fence: number, forMs: number): Promise<boolean> =>
    Number(await connection.run(holdScript, name, fence, forMs)) === 1
  return {
    async acquire(name, leaseMs) {
      const fence = await connection.run(acquireScript, name, Math.ceil(leaseMs))
      return fence === null ? undefined : { fence: Number(fence) }
    },
    renew: (name, fence, leaseMs) => hold(name, fence, Math.max(1, Math.ceil(leaseMs))),
    release: (name, fence) => hold(name, fence, 0),
  }
}
