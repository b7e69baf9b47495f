import { stateLetters } from '../../shared/state-letters.ts'
import type { Connections } from '../connection.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { Removed } from './remove-partitions.ts'

/** How long one statement should take: a claim of a key whose record is being removed waits for it. */
const statementMs = 20
const mostPages = 10_000

/**
 * Scans the table once, page by page, and removes records that are old enough. There is no index by time, because every
 * claim would pay for it. Locked rows are left for the next scan.
 */
export function timelessRemoval<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  { timeless }: Tables,
): (before: Date, endsAt: number) => Promise<Removed> {
  const size = statement(`SELECT pg_relation_size('${timeless}'::regclass) / current_setting('block_size')::bigint`)
  const remove = statement(
    `DELETE FROM ${timeless} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${timeless}
       WHERE ctid >= ('(' || $1::bigint || ',0)')::tid AND ctid < ('(' || $2::bigint || ',0)')::tid
         AND processed_at < to_timestamp($3::float8 / 1000) AND state <> '${stateLetters.parked}'
       FOR UPDATE SKIP LOCKED))`,
  )
  let next = 0
  let pages = 64

  return async (before, endsAt) => {
    const last = Number((await connections.runAlone(size, [])).rows[0]?.[0])
    if (next >= last) next = 0
    let removed = 0
    while (next < last) {
      const startedAt = performance.now()
      const until = Math.min(next + pages, last)
      const { count } = await connections.runAlone(remove, [String(next), String(until), String(before.getTime())])
      removed += count
      next = until
      const tookMs = Math.max(1, performance.now() - startedAt)
      pages = Math.max(1, Math.min(mostPages, Math.round((pages * statementMs) / tookMs), pages * 2))
      if (next < last && performance.now() >= endsAt) return { removed, more: true }
    }
    next = 0
    return { removed, more: false }
  }
}
