import type { Publisher, Store } from '../../../src/contracts/index.ts'
import { justonce, messages } from '../../../src/index.ts'
import type { SimDatabase } from '../database/sim-database.ts'
import type { SimProcess } from '../process.ts'
import type { SimTx } from '../store/sim-tx.ts'
import { type AppName, type Publication, tickMs } from './plan.ts'

/** Published messages, by what has committed: the truth that everything else is compared with. */
export const publishedTable = 'published'
/** What cancelling has answered, in transactions that committed. */
export const cancelledTable = 'cancelled'

export interface Environment {
  readonly app: AppName
  readonly process: SimProcess
  readonly store: Store<SimTx>
  readonly publishers: Readonly<Record<string, Publisher>>
  readonly database: SimDatabase
}

/** What can be asked of a running process. */
export interface Running {
  publish(publication: Publication): Promise<void>
  cancel(id: string, attempt: number): Promise<void>
}

export type OutgoingProgram = (environment: Environment) => Running

/** The real app, as a user would set it up. */
export const realApp: OutgoingProgram = ({ app: name, process, store, publishers, database }) => {
  const app = justonce({
    log: false,
    heartbeat: false,
    store: store as typeof store & Required<Pick<typeof store, 'queue'>>,
    to: publishers,
    routes: Object.fromEntries(Object.keys(publishers).map((each) => [`${each}.*`, each])),
    clock: process.clock,
    messages: messages<Record<string, { of: string }>>(),
  })
  const type = `${name === 'shop' ? 'orders' : 'letters'}.tick`
  app.schedule('tick', { everyMs: tickMs[name], type, body: { of: 'tick' }, missed: 'all' })
  const start = () => void app.start().catch(() => process.clock.timer(500, start))
  start()
  return {
    async publish({ id, to, key, due }) {
      await store.transaction(async (tx) => {
        let place = 0
        // Locked, so that those of one key are published in the order of their places.
        if (key !== undefined)
          await tx.update('places', `${to} ${key}`, (row) => {
            place = Number(row?.count ?? 0) + 1
            return { count: place }
          })
        const dueBy = () => dueAt(due, database)
        await tx.update(publishedTable, id, () => ({ to, key, place, due: dueBy() }))
        const when = due === undefined ? {} : 'at' in due ? { at: new Date(database.installedAt + due.at) } : due
        await app.publish(`${to}.sent`, { of: id }, { tx, id, ...(key !== undefined && { key }), ...when })
        // The clock may have been put back meanwhile.
        await tx.update(publishedTable, id, (row) => ({ ...row, due: Math.min(Number(row?.due), dueBy()) }))
      })
    },
    async cancel(id, attempt) {
      await store.transaction(async (tx) => {
        const isCancelled = await app.cancel(id, { tx })
        await tx.insert(cancelledTable, `${id}|${attempt}`, { id, isCancelled })
      })
    },
  }
}

/** By the database's clock; a message that is not delayed has been due for ever. */
function dueAt(due: Publication['due'], database: SimDatabase): number {
  if (due === undefined) return Number.NEGATIVE_INFINITY
  return 'at' in due ? database.installedAt + due.at : database.date(due.delayMs).getTime()
}
