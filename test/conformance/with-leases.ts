import type { Facts } from '../../src/contracts/index.ts'
import type { Leases } from '../../src/facts/index.ts'

/** Facts whose leases are these. */
export function withLeases<Tx>(facts: Facts<Tx>, leases: Leases): Facts<Tx> {
  return {
    ...facts,
    async change(tx, changes) {
      const [change] = changes
      if (change === undefined || !change.name.startsWith('lease ')) return await facts.change(tx, changes)
      const { name, from, forMs = 0 } = change
      const lease = name.slice('lease '.length)
      if (from === undefined) return [(await leases.acquire(lease, forMs))?.fence]
      const isHeld = forMs === 0 ? await leases.release(lease, from) : await leases.renew(lease, from, forMs)
      return [isHeld ? from : undefined]
    },
  }
}
