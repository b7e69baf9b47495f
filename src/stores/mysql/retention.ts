import { believedClock, clockPatienceMs } from '../../clock/index.ts'
import type { Retention } from '../../contracts/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { integer, nowMs, numberIn, optionalDateIn, optionalNumberIn, textIn } from './literals-and-cells.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByKey, foundByValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** Few enough that anyone who needs one of these rows does not notice. */
const chunkSize = 200

/** How long a row of an order key stays: longer than any transaction, so that it exists while its key is in use. */
const scopeDays = 30

export function mysqlRetention<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  { inbox, meta, scopes }: Tables,
): Retention {
  /** Deletes by key and skips locked rows, so that neither side waits for the other. */
  const removeChunk = (condition: string): Promise<number> =>
    short.run(async (runner) => {
      const { rows } = await runner.run(
        `SELECT handler, \`key\`, born FROM ${inbox} FORCE INDEX (inbox_born) WHERE ${condition}
         LIMIT ${chunkSize} FOR UPDATE SKIP LOCKED`,
      )
      if (rows.length === 0) return 0
      const keys = rows.map(([handler, key]) => ({ handler: textIn(handler), key: textIn(key) }))
      const youngest = rows.reduce((latest, row) => Math.max(latest, optionalNumberIn(row[2]) ?? -1), -1)
      // The rows were chosen by the horizon of a moment ago. From here on no repair can lower it below them: it waits for this lock,
      // and then finds what is stored together with the removal.
      if (youngest >= 0) {
        const [horizon] = (await runner.run(`SELECT horizon FROM ${meta} FOR UPDATE`)).rows[0] ?? []
        if (youngest >= (optionalNumberIn(horizon) ?? Number.NEGATIVE_INFINITY)) return 0
        await runner.run(`UPDATE ${meta} SET removed_until = GREATEST(COALESCE(removed_until, 0), ${youngest + 1})`)
      }
      return (await runner.run(`DELETE known FROM ${foundByKey(inbox, 'PRIMARY', keys)}`)).count
    })

  const removeOldScopes = () =>
    short.run(async (runner) => {
      const { rows } = await runner.run(
        `SELECT scope FROM ${scopes} FORCE INDEX (scopes_made) WHERE made_at < ${nowMs} - ${scopeDays * 86_400_000}
         LIMIT ${chunkSize} FOR UPDATE SKIP LOCKED`,
      )
      const old = rows.map(([scope]) => textIn(scope))
      if (old.length > 0) await runner.run(`DELETE known FROM ${foundByValue(scopes, 'scope', old)}`)
    })

  return {
    async horizon() {
      return optionalDateIn((await short.read(`SELECT horizon FROM ${meta}`))[0]?.[0])
    },
    raise: (keepMs, steadyNow) =>
      short.run(async (runner) => {
        const { rows } = await runner.run(`SELECT ${nowMs}, horizon, clock_seen, clock_doubted FROM ${meta} FOR UPDATE`)
        const row = rows[0] ?? []
        const now = numberIn(row[0])
        const known = { seen: optionalNumberIn(row[2]), doubted: optionalNumberIn(row[3]) }
        const patience = { patienceMs: clockPatienceMs(keepMs), steadyNow: steadyNow?.getTime() }
        const { isBelieved, memory } = believedClock(now, known, patience)
        const before = optionalNumberIn(row[1])
        const horizon = isBelieved ? Math.max(before ?? Number.NEGATIVE_INFINITY, Math.floor(now - keepMs)) : before
        await runner.run(
          `UPDATE ${meta} SET horizon = ${integer(horizon)}, clock_seen = ${integer(memory.seen)},
             clock_doubted = ${integer(memory.doubted)}`,
        )
        const raised = { horizon: horizon === undefined ? undefined : new Date(horizon), now: new Date(now) }
        return isBelieved ? raised : { ...raised, doubt: { seen: new Date(memory.seen ?? now) } }
      }),
    repairHorizon: () =>
      short.run(async (runner) => {
        const { rows } = await runner.run(`SELECT horizon, removed_until FROM ${meta} FOR UPDATE`)
        await runner.run(`UPDATE ${meta} SET horizon = removed_until`)
        return { before: optionalDateIn(rows[0]?.[0]), horizon: optionalDateIn(rows[0]?.[1]) }
      }),
    // One table holds rows of all times, so there is nothing to prepare.
    async prepare() {},
    async remove({ bornBefore, timelessBefore, budgetMs }) {
      // Evaluated at each step: records that the horizon does not refuse must stay. If the horizon is NULL, nothing is removed.
      const conditions = [`born < LEAST(${integer(bornBefore.getTime())}, (SELECT horizon FROM ${meta}))`]
      if (timelessBefore !== undefined)
        conditions.push(`born IS NULL AND processed_at < ${integer(timelessBefore.getTime())} AND state <> 'parked'`)
      const until = performance.now() + budgetMs
      let removed = 0
      for (const condition of conditions) {
        for (let more = true; more; ) {
          const gone = await removeChunk(condition)
          removed += gone
          more = gone === chunkSize
          if (more && performance.now() >= until) return { removed, more: true }
        }
      }
      await removeOldScopes()
      return { removed, more: false }
    },
  }
}
