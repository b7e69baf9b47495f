import { believedClock, clockPatienceMs } from '../../clock/index.ts'
import type { Retention } from '../../contracts/index.ts'
import type { Transactions } from './transactions.ts'

export function memoryRetention(transactions: Transactions): Retention {
  return {
    horizon: () => transactions.read(({ horizon }) => dateOf(horizon.committed('horizon'))),
    raise: (keepMs, steadyNow) =>
      transactions.short(({ database }) => {
        const now = database.now()
        const { horizon: times } = database
        const known = { seen: times.get('clock seen'), doubted: times.get('clock doubted') }
        const patience = { patienceMs: clockPatienceMs(keepMs), steadyNow: steadyNow?.getTime() }
        const { isBelieved, memory } = believedClock(now, known, patience)
        if (isBelieved) times.set('horizon', Math.max(times.get('horizon') ?? Number.NEGATIVE_INFINITY, now - keepMs))
        for (const [name, time] of Object.entries(memory))
          if (time === undefined) times.delete(`clock ${name}`)
          else times.set(`clock ${name}`, time)
        const raised = { horizon: dateOf(times.get('horizon')), now: new Date(now) }
        return isBelieved ? raised : { ...raised, doubt: { seen: new Date(memory.seen ?? now) } }
      }),
    repairHorizon: () =>
      transactions.short(({ database: { horizon: times } }) => {
        const [before, removed] = [times.get('horizon'), times.get('removed until')]
        if (removed === undefined) times.delete('horizon')
        else times.set('horizon', removed)
        return { before: dateOf(before), horizon: dateOf(removed) }
      }),
    prepare: async () => {},
    remove: ({ bornBefore, timelessBefore }) =>
      transactions.short(({ database: { inbox, horizon: times } }) => {
        let removed = 0
        const before = Math.min(bornBefore.getTime(), times.get('horizon') ?? Number.NEGATIVE_INFINITY)
        for (const [key, { born, state, processedAt }] of inbox.entries()) {
          const isOld =
            born === undefined
              ? timelessBefore !== undefined && state !== 'parked' && processedAt < timelessBefore
              : born.getTime() < before
          if (!isOld) continue
          inbox.delete(key)
          if (born !== undefined)
            times.set('removed until', Math.max(times.get('removed until') ?? 0, born.getTime() + 1))
          removed++
        }
        return { removed, more: false }
      }),
  }
}

function dateOf(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}
