import type { ClaimRequest, Retention, Store } from '../../../src/contracts/index.ts'
import type { Row } from '../database/sim-database.ts'
import { inTransaction, update } from '../database/statements.ts'
import { realApp } from '../real-app.ts'
import { name } from '../store/inbox.ts'
import type { SimClient, SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'

type Environment = Parameters<Program>[0]

export function retentionOf(store: Store<SimTx>): Retention {
  return store.retention as Retention
}

/** As this transaction sees it; in a statement of its own, as a store may read it. */
export async function horizonIn(tx: SimTx): Promise<number> {
  return Number((await tx.get('meta', 'horizon'))?.time ?? Number.NEGATIVE_INFINITY)
}

export function onRetention(
  breakIt: (retention: Retention, environment: Environment) => Retention,
  program: Program = realApp,
): Program {
  return (environment) => {
    const { store } = environment
    program({ ...environment, store: { ...store, retention: breakIt(retentionOf(store), environment) } })
  }
}

/** What the horizon would be, and now is, by the database's clock. */
export async function wish(
  store: Store<SimTx>,
  keepMs: number,
): Promise<{ readonly horizon: Date; readonly now: Date }> {
  const now = await store.transaction((tx) =>
    (tx as SimClient).connection.call('query', ({ database }) => database.date()),
  )
  return { horizon: new Date(now.getTime() - keepMs), now }
}

/** Claims what the store calls too old where a horizon of its own lies before it. */
export function onHorizon(horizonOf: (environment: Environment) => (tx: SimTx) => Promise<number>): Program {
  return (environment) => {
    const { store } = environment
    const ownHorizon = horizonOf(environment)
    realApp({
      ...environment,
      store: {
        ...store,
        inbox: {
          ...store.inbox,
          async claim(tx, requests) {
            const horizon = await ownHorizon(tx)
            const answer = await store.inbox.claim(tx, requests)
            const tooOld = new Set(answer.tooOld)
            for (const place of answer.tooOld ?? []) {
              const { handler, key, fingerprint, born } = requests[place] as ClaimRequest
              if (born === undefined || born.getTime() < horizon) continue
              await tx.insert('inbox', name({ handler, key }), { state: 'processed', fingerprint, born })
              tooOld.delete(place)
            }
            return { ...answer, tooOld }
          },
        },
      },
    })
  }
}

/** What a store does that asks no horizon. */
export async function removeByAge(
  store: Store<SimTx>,
  { bornBefore, timelessBefore }: Parameters<Retention['remove']>[0],
): Promise<{ readonly removed: number; readonly more: boolean }> {
  await removeRows(store, 'inbox', ({ born, state, processedAt }) => {
    if (born !== undefined) return (born as Date) < bornBefore
    return timelessBefore !== undefined && state !== 'parked' && (processedAt as Date) < timelessBefore
  })
  return { removed: 0, more: false }
}

export async function removeRows(
  store: Store<SimTx>,
  table: string,
  isOld: (row: Row, key: string) => boolean,
): Promise<void> {
  await store.transaction((client) =>
    (client as SimClient).connection.call(
      'query',
      inTransaction(async (tx, session) => {
        for (const { key, row } of session.database.scan(tx, table))
          if (isOld(row, key)) await update(session, tx, table, key, () => undefined)
      }),
    ),
  )
}
