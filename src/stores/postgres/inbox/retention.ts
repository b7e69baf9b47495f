import { clockPatienceMs } from '../../../clock/index.ts'
import type { Retention } from '../../../contracts/index.ts'
import type { Connections } from '../connection.ts'
import { inMs } from '../dialect.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import { type Cell, dateIn } from '../values-as-text.ts'
import { partitionsBetween } from './inbox-partitions.ts'
import type { Partitions } from './partitions.ts'
import { raiseStatement } from './raise-horizon.ts'
import { partitionRemoval } from './remove-partitions.ts'
import { timelessRemoval } from './remove-timeless.ts'

/** Keeps a wrong number from filling the database with empty tables. */
const longestAheadMs = 400 * 86_400_000

export function postgresRetention<Tx>(
  connections: Pick<Connections<Tx>, 'checkOut' | 'runAlone'>,
  partitions: Partitions<Tx>,
  tables: Tables,
): Retention {
  const { meta } = tables
  const removePartitions = partitionRemoval(connections, tables)
  const removeTimeless = timelessRemoval(connections, tables)
  const now = statement(`SELECT ${inMs('statement_timestamp()')}`)
  const horizon = statement(`SELECT ${inMs('horizon')} FROM ${meta}`)
  const raise = raiseStatement(tables)
  const repair = statement(
    `UPDATE ${meta} AS known SET horizon = known.removed_until
     FROM (SELECT horizon FROM ${meta} FOR UPDATE) AS before
     RETURNING ${inMs('before.horizon')}, ${inMs('known.horizon')}`,
  )

  async function readHorizon(): Promise<Date | undefined> {
    return optionalDateIn((await connections.runAlone(horizon, [])).rows[0]?.[0])
  }

  return {
    horizon: readHorizon,
    async raise(keepMs, steadyNow) {
      const steady = steadyNow === undefined ? null : steadyNow.toISOString()
      const { rows } = await connections.runAlone(raise, [String(keepMs), String(clockPatienceMs(keepMs)), steady])
      const [horizon, now, seen, isBelieved] = rows[0] ?? []
      const raised = { horizon: optionalDateIn(horizon), now: dateIn(now) }
      return isBelieved === 't' ? raised : { ...raised, doubt: { seen: dateIn(seen) } }
    },
    async repairHorizon() {
      const [before, after] = (await connections.runAlone(repair, [])).rows[0] ?? []
      return { before: optionalDateIn(before), horizon: optionalDateIn(after) }
    },
    async prepare(aheadMs, since) {
      const today = dateIn((await connections.runAlone(now, [])).rows[0]?.[0])
      const last = new Date(today.getTime() + Math.min(aheadMs, longestAheadMs))
      await partitions.make(partitionsBetween(since !== undefined && since < today ? since : today, last))
    },
    async remove({ bornBefore, timelessBefore, budgetMs }) {
      const endsAt = performance.now() + budgetMs
      const oldest = await readHorizon()
      // Regardless of the request, records that the horizon does not yet refuse must stay.
      const before = oldest !== undefined && oldest < bornBefore ? oldest : bornBefore
      const dated = oldest === undefined ? { removed: 0, more: false } : await removePartitions(before, endsAt)
      if (timelessBefore === undefined) return dated
      const timeless = await removeTimeless(timelessBefore, endsAt)
      return { removed: dated.removed + timeless.removed, more: dated.more || timeless.more }
    },
  }
}

function optionalDateIn(cell: Cell | undefined): Date | undefined {
  return cell === undefined || cell === null ? undefined : dateIn(cell)
}
