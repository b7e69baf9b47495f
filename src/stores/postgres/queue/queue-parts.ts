/** When the row `known` was sent; with its number, this is its ticket. */
export const sent = sentOf('known')

export function sentOf(row: string): string {
  return `(extract(epoch FROM ${row}.sent_at) * 1000000)::bigint`
}

/** A message without a delay must not wait for a clock that was ahead when it was stored. */
export const atOnce = `'-infinity'::timestamptz`

export function later(ms: string): string {
  return `statement_timestamp() + ${ms}::float8 * interval '1 millisecond'`
}

/**
 * The rows that are `given`, in a form in which the planner can only look up one after the other. If it knew the queue or the number of
 * rows it might read the whole queue instead, because it takes a queue for short that was short when it last looked.
 */
export function eachOf(columns: string, rows: string): string {
  return `(SELECT $1::text AS queue, ${columns} FROM ${rows} AS rows (${columns}) OFFSET 0) AS given`
}

export const isGiven = 'known.queue = given.queue AND known.sequence = given.sequence'
