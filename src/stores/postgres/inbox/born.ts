/** The value of the column `born` for ids that do not say when they were made. */
export const timelessBorn = '-infinity'

/** Only that value lies below this. */
export const timelessUntil = '0001-01-01 00:00:00+00'

const earliest = Date.UTC(1000, 0, 1)
const latest = Date.UTC(9999, 0, 1)

/**
 * The time as the database accepts it. Times outside every calendar are clamped: all copies of a message get the same value,
 * which is all that matters.
 */
export function bornMs(born: Date): number {
  return Math.min(latest, Math.max(earliest, born.getTime()))
}

export function bornText(born: Date | undefined): string {
  return born === undefined ? timelessBorn : new Date(bornMs(born)).toISOString()
}

/** The first and the last of these times. A statement with this range touches only the partitions in between. */
export function bornRange(borns: readonly (Date | undefined)[]): [string, string] {
  let first = latest
  let last = earliest
  for (const born of borns) {
    if (born === undefined) continue
    const ms = bornMs(born)
    if (ms < first) first = ms
    if (ms > last) last = ms
  }
  return [new Date(first).toISOString(), new Date(last).toISOString()]
}
