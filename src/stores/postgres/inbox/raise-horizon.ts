import { inMs } from '../dialect.ts'
import { type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'

/**
 * Values: how long to keep records, how far the clock may have moved, and the expected time. It decides like
 * `believedClock`, but in one statement: a process that waits for another one to raise the horizon then uses the updated
 * row.
 */
export function raiseStatement({ meta }: Tables): Statement {
  const patience = `$2::float8 * interval '1 millisecond'`
  // Truncated to the millisecond, which is the precision of ids. NULL counts as less than anything.
  const now = `date_trunc('milliseconds', statement_timestamp())`
  const hasGoneOn = `${now} >= clock_doubted + ${patience} AND ${now} <= clock_doubted + 2 * ${patience}`
  const isBelieved = `coalesce(${now} <= greatest(clock_seen, $3::timestamptz) + ${patience} OR (${hasGoneOn}), false)`
  const isSameDoubt = `clock_doubted <= ${now} AND ${now} < clock_doubted + ${patience}`
  return statement(
    `UPDATE ${meta} SET
       horizon = CASE WHEN ${isBelieved}
         THEN greatest(horizon, ${now} - $1::float8 * interval '1 millisecond') ELSE horizon END,
       clock_seen = CASE WHEN ${isBelieved} THEN ${now} ELSE clock_seen END,
       clock_doubted = CASE WHEN ${isBelieved} THEN NULL WHEN ${isSameDoubt} THEN clock_doubted ELSE ${now} END
     RETURNING ${inMs('horizon')}, ${inMs(now)}, ${inMs('clock_seen')}, clock_doubted IS NULL`,
  )
}
