import type { Cron } from './cron.ts'
import { dayMs, instantsOf, type OffsetAt } from './time-zone.ts'

/** When a schedule ticks. */
export type Timing =
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly cron: Cron; readonly offsetAt: OffsetAt }

/** A 29th of February is at most eight years away, and one that must be a Sunday forty: no year has one around 2100. */
const longestGapDays = 41 * 366

/** The first tick after an instant. Every process finds the same one. */
export function nextTick(timing: Timing, after: number): number {
  if (timing.kind === 'every') return nextMultiple(timing.everyMs, after)
  const { cron, offsetAt } = timing
  const today = Math.floor((after + offsetAt(after)) / dayMs) * dayMs
  // From yesterday on: a time that clocks skip may be made up for on the next day.
  for (let day = today - dayMs; day <= today + longestGapDays * dayMs; day += dayMs) {
    if (!isOnDay(cron, new Date(day))) continue
    const found = firstOn(day, cron, offsetAt, after)
    if (found !== undefined) return found
  }
  throw new RangeError('A schedule that was checked never comes.')
}

/** Counted from 1970, so that processes that start at different times agree. */
function nextMultiple(everyMs: number, after: number): number {
  const count = Math.floor(after / everyMs) + 1
  // Of a period with a fraction, a multiple divided by it may be a trace too small. Then this one is not later than the one before.
  return count * everyMs > after ? count * everyMs : (count + 1) * everyMs
}

/** The latest ticks after `since`, up to and including `until`, oldest first, and no more than `most`. */
export function latestTicks(timing: Timing, since: number, until: number, most: number): readonly number[] {
  // From short spans to long ones: after a long time there may be millions, of which only the last ones are wanted.
  for (let span = 3_600_000; ; span *= 24) {
    const from = Math.max(since, until - span)
    const ticks: number[] = []
    for (let tick = nextTick(timing, from); tick <= until; tick = nextTick(timing, tick)) {
      ticks.push(tick)
      if (ticks.length > most) ticks.shift()
    }
    if (ticks.length >= most || from === since) return ticks
  }
}

function isOnDay({ months, days, weekdays, isEitherDay }: Cron, day: Date): boolean {
  if (!months.has(day.getUTCMonth() + 1)) return false
  const [isDay, isWeekday] = [days.has(day.getUTCDate()), weekdays.has(day.getUTCDay())]
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday
}

/** The first tick of a local day after an instant. */
function firstOn(day: number, cron: Cron, offsetAt: OffsetAt, after: number): number | undefined {
  const offset = offsetAt(day - dayMs)
  // On a day on which clocks change they may be out of order.
  if (offset !== offsetAt(day + 2 * dayMs)) return ticksOn(day, cron, offsetAt).find((tick) => tick > after)
  for (const hour of cron.hours) {
    for (const minute of cron.minutes) {
      const tick = day + (hour * 60 + minute) * 60_000 - offset
      if (tick > after) return tick
    }
  }
  return undefined
}

const lastDays = new WeakMap<Cron, Map<number, readonly number[]>>()

/** All ticks of a day, in order. Kept for three days, because whoever asks for one tick asks for the next, and looks at the day before, too. */
function ticksOn(day: number, cron: Cron, offsetAt: OffsetAt): readonly number[] {
  const known = lastDays.get(cron) ?? new Map<number, readonly number[]>()
  const kept = known.get(day)
  if (kept !== undefined) return kept
  const walls = cron.hours.flatMap((hour) => cron.minutes.map((minute) => day + (hour * 60 + minute) * 60_000))
  const ticks = walls.flatMap((wall) => ticksAt(wall, cron, offsetAt)).sort((one, other) => one - other)
  for (const other of known.keys()) if (Math.abs(other - day) > dayMs) known.delete(other)
  lastDays.set(cron, known.set(day, ticks))
  return ticks
}

/**
 * A time that clocks skip is made up for as much later as they are put forward, and one that they show twice counts the first time.
 * A schedule for every hour means the hours that pass: it skips and repeats with the clocks.
 */
function ticksAt(wall: number, { isEveryHour }: Cron, offsetAt: OffsetAt): readonly number[] {
  const instants = instantsOf(wall, offsetAt)
  if (isEveryHour) return instants
  return instants.length === 0 ? [wall - offsetAt(wall - dayMs)] : instants.slice(0, 1)
}
