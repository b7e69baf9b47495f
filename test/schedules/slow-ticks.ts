import { parseCron } from '../../src/schedules/cron.ts'

const shownAt = new Map<string, number>()
const quarterMs = 15 * 60_000

/** Finds ticks by looking at every minute of a clock in the zone: slow, and written without anything of the real ones but the parser. */
export function slowTicks(text: string, zone: string, since: number, until: number): readonly number[] {
  const cron = parseCron(text)
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' },
  } as Intl.DateTimeFormatOptions)
  /** Clocks change at quarters of an hour at most, so the clock itself is looked at once in a quarter. */
  const wallAt = (instant: number): number => quarterAt(instant - (instant % quarterMs)) + (instant % quarterMs)
  const quarterAt = (instant: number): number => {
    const known = shownAt.get(`${zone} ${instant}`)
    if (known !== undefined) return known
    const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
    const wall = Date.UTC(part.year as number, (part.month as number) - 1, part.day, part.hour, part.minute)
    shownAt.set(`${zone} ${instant}`, wall)
    return wall
  }
  const fits = (wall: number): boolean => {
    const date = new Date(wall)
    const isDay = cron.days.has(date.getUTCDate())
    const isWeekday = cron.weekdays.has(date.getUTCDay())
    return (
      cron.minutes.includes(date.getUTCMinutes()) &&
      cron.hours.includes(date.getUTCHours()) &&
      cron.months.has(date.getUTCMonth() + 1) &&
      (cron.isEitherDay ? isDay || isWeekday : isDay && isWeekday)
    )
  }
  const found = new Set<number>()
  // A day earlier, so that it has seen the clock before it changed.
  let shown = wallAt(since - 86_400_000)
  let latest = shown
  for (let instant = since - 86_400_000 + 60_000; instant <= until; instant += 60_000) {
    const wall = wallAt(instant)
    const skipped = (wall - shown) / 60_000 - 1
    if (cron.isEveryHour ? fits(wall) : wall > latest && fits(wall)) found.add(instant)
    if (!cron.isEveryHour)
      for (let minute = 0; minute < skipped; minute++)
        if (fits(shown + (minute + 1) * 60_000)) found.add(instant + minute * 60_000)
    shown = wall
    latest = Math.max(latest, wall)
  }
  return [...found].filter((tick) => tick > since && tick <= until).sort((a, b) => a - b)
}
