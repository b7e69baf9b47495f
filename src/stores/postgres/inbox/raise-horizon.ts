import { inMs } from '../parking/parked-columns.ts'
import { type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'

/**
 * Values: how long to keep, how far the clock may have moved, and what the time should be. It decides as `believedClock`
 * does, in one statement: whoever waits for another that raises it goes by the row as it is then.
 */
export function raiseStatement({ meta }: Tables): Statement {
  const patience = `$2::float8 * interval '1 millisecond'`
  // To the millisecond, which is how exactly ids tell the time. A NULL is less than anything.
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
