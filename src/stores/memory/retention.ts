import type { Retention } from '../../contracts/index.ts'
import type { Transactions } from './transactions.ts'

export function memoryRetention(transactions: Transactions): Retention {
  return {
    horizon: () => transactions.read(({ horizon }) => dateOf(horizon.committed('horizon'))),
    raise: (keepMs) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const horizon = Math.max(database.horizon.get('horizon') ?? Number.NEGATIVE_INFINITY, now - keepMs)
        database.horizon.set('horizon', horizon)
        return { horizon: new Date(horizon), now: new Date(now) }
      }),
    prepare: async () => {},
    remove: ({ bornBefore, timelessBefore }) =>
      transactions.short(({ database: { inbox } }) => {
        let removed = 0
        for (const [key, { born, state, processedAt }] of inbox.entries()) {
          const isOld =
            born === undefined
              ? timelessBefore !== undefined && state !== 'parked' && processedAt < timelessBefore
              : born < bornBefore
          if (!isOld) continue
          inbox.delete(key)
          removed++
        }
        return { removed, more: false }
      }),
    pinScheme: (handler, scheme) =>
      transactions.short(({ database: { schemes } }) => {
        const pinned = schemes.get(handler)
        if (pinned === undefined) schemes.set(handler, scheme)
        return pinned ?? scheme
      }),
  }
}

function dateOf(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}
