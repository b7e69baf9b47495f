import { JustonceError } from '../errors/index.ts'

/** How far the local time of a zone is ahead of UTC at an instant. Both in milliseconds. */
export type OffsetAt = (instant: number) => number

export const dayMs = 86_400_000

/** A time zone by its IANA name, from the data that Node.js brings. */
export function timeZone(name: string): OffsetAt {
  if (name === 'UTC') return () => 0
  const format = formatOf(name)
  // Offsets change a few times a year, and looking one up takes microseconds: the few that are asked for again and again are kept.
  const known = new Map<number, number>()
  return (instant) => {
    const minute = Math.floor(instant / 60_000)
    const found = known.get(minute)
    if (found !== undefined) return found
    const offset = offsetIn(format.formatToParts(minute * 60_000))
    if (known.size >= 10_000) known.clear()
    known.set(minute, offset)
    return offset
  }
}

/** The instants at which clocks of the zone show this time: none if they skip it, two if they show it again. */
export function instantsOf(wall: number, offsetAt: OffsetAt): readonly number[] {
  const offsets = new Set([offsetAt(wall - dayMs), offsetAt(wall + dayMs)])
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => instant + offsetAt(instant) === wall)
    .sort((a, b) => a - b)
}

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  } catch (cause) {
    throw new JustonceError('SCHEDULE_INVALID', {
      message: `The time zone ${JSON.stringify(name)} is unknown; use a name such as Europe/Berlin.`,
      cause,
    })
  }
}

/** From `GMT`, `GMT+02:00` or, long ago, `GMT-00:44:30`. */
function offsetIn(parts: readonly Intl.DateTimeFormatPart[]): number {
  const said = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes, seconds] = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(said) ?? []
  const ms = ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000
  return sign === '-' ? -ms : ms
}
