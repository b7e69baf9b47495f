import type { Leases } from '../../contracts/index.ts'
import type { Transactions } from './transactions.ts'

export function memoryLeases(transactions: Transactions): Leases {
  return {
    acquire: (name, leaseMs) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const known = database.leases.get(name)
        if (known !== undefined && known.endsAt > now) {
          // It would end no later than its length from now, had the clock not been ahead when it was taken.
          const endsAt = Math.min(known.endsAt, now + known.leaseMs)
          database.leases.set(name, { ...known, endsAt })
          return undefined
        }
        const fence = Math.max((known?.fence ?? 0) + 1, now * 1_000)
        // The row stays when it is released, so that the fence only grows.
        database.leases.set(name, { fence, leaseMs, endsAt: now + leaseMs })
        return { fence }
      }),
    renew: (name, fence, leaseMs) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const known = database.leases.get(name)
        if (known?.fence !== fence || known.endsAt <= now) return false
        database.leases.set(name, { fence, leaseMs, endsAt: now + leaseMs })
        return true
      }),
    release: (name, fence) =>
      transactions.short(({ database }) => {
        const known = database.leases.get(name)
        if (known?.fence !== fence || known.endsAt <= database.now()) return false
        database.leases.set(name, { ...known, endsAt: 0 })
        return true
      }),
  }
}
