/** What the column `born` holds for ids that do not say when they were made. */
export const timelessBorn = '-infinity'

/** Below it there is only that. */
export const timelessUntil = '0001-01-01 00:00:00+00'

const earliest = Date.UTC(1000, 0, 1)
const latest = Date.UTC(9999, 0, 1)

/**
 * As the database takes it. What lies beyond all calendars is moved to where they end: the same for every copy of a
 * message, which is all that matters.
 */
export function bornMs(born: Date): number {
  return Math.min(latest, Math.max(earliest, born.getTime()))
}

export function bornText(born: Date | undefined): string {
  return born === undefined ? timelessBorn : new Date(bornMs(born)).toISOString()
}

/** From the first to the last of them: a statement that says so touches only the parts of the inbox in between. */
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
