import { believedClock, type ClockVerdict, clockPatienceMs } from '../../../src/clock/index.ts'
import type { Retention } from '../../../src/contracts/index.ts'
import type { Session } from '../database/connection.ts'
import type { ServerTransaction } from '../database/server-transaction.ts'
import { inTransaction, lockIfFree, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'

/** What one record costs of the budget: small, so that a removal has many steps to be hit at. */
const msPerRecord = 30

export function simRetention(context: SimStoreContext): Retention {
  const call = <T>(step: string, work: (tx: ServerTransaction, session: Session) => T | Promise<T>): Promise<T> =>
    context.read((client) => client.connection.call(step, inTransaction(work)))
  return {
    horizon: () => call('read', horizonIn),
    raise: (keepMs, steadyNow) =>
      call('raise-horizon', async (tx, session) => {
        const now = session.database.date()
        const patience = { patienceMs: clockPatienceMs(keepMs), steadyNow: steadyNow?.getTime() }
        let verdict: ClockVerdict | undefined
        await update(session, tx, 'meta', 'clock', (row) => {
          // From the time of the installation on.
          const memory = {
            seen: (row?.seen as number | undefined) ?? session.database.installedAt,
            doubted: row?.doubted as number | undefined,
          }
          verdict = believedClock(now.getTime(), memory, patience)
          return { ...verdict.memory }
        })
        if (verdict?.isBelieved)
          await update(session, tx, 'meta', 'horizon', (row) => ({
            time: Math.max((row?.time as number | undefined) ?? Number.NEGATIVE_INFINITY, now.getTime() - keepMs),
          }))
        const raised = { horizon: horizonIn(tx, session), now }
        return verdict?.isBelieved ? raised : { ...raised, doubt: { seen: new Date(verdict?.memory.seen ?? 0) } }
      }),
    repairHorizon: () =>
      call('repair-horizon', async (tx, session) => {
        const before = horizonIn(tx, session)
        const removed = session.database.read(tx, 'meta', 'removed-until')
        await update(session, tx, 'meta', 'horizon', () => removed)
        return { before, horizon: horizonIn(tx, session) }
      }),
    // There is nothing to make; but a call it is.
    prepare: async () => {
      if (context.prepares) await call('prepare-records', () => {})
    },
    remove: ({ bornBefore, timelessBefore, budgetMs }) =>
      call('remove-records', async (tx, session) => {
        const most = 1 + Math.floor(budgetMs / msPerRecord)
        let removed = 0
        const horizon = horizonIn(tx, session) ?? new Date(Number.NaN)
        for (const { key, row } of session.database.scan(tx, 'inbox')) {
          if (removed === most) return { removed, more: true }
          const born = row.born as Date | undefined
          const isOld =
            born === undefined
              ? timelessBefore !== undefined && row.state !== 'parked' && (row.processedAt as Date) < timelessBefore
              : born < bornBefore && born < horizon
          if (!isOld || (await lockIfFree(session, tx, 'inbox', key, () => true)) === undefined) continue
          await update(session, tx, 'inbox', key, () => undefined)
          if (born !== undefined)
            await update(session, tx, 'meta', 'removed-until', (known) => ({
              time: Math.max((known?.time as number | undefined) ?? 0, born.getTime() + 1),
            }))
          removed++
        }
        return { removed, more: false }
      }),
  }
}

export function horizonIn(tx: ServerTransaction, session: Session): Date | undefined {
  const time = session.database.read(tx, 'meta', 'horizon')?.time as number | undefined
  return time === undefined ? undefined : new Date(time)
}
