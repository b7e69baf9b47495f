import { JustonceError, whatWasGiven } from '../errors/index.ts'

/** A parsed cron expression. Lists are sorted. */
export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  /** Sunday is 0. */
  readonly weekdays: ReadonlySet<number>
  /** Both a day of the month and a weekday are given: one of them is enough, as in every cron. */
  readonly isEitherDay: boolean
  /** It runs in every hour, so it means hours that pass rather than times of a day. */
  readonly isEveryHour: boolean
}

interface Field {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: monthNames },
  // 7 is Sunday, too.
  { name: 'weekday', from: 0, to: 7, names: weekdayNames },
] as const satisfies readonly Field[]

/** The last day or weekday of a month, the nearest workday, a weekday by its number, and "any" as other schedulers write them. */
const unsupported = /[#?]|^\d*[lw]+(?:-\d+)?$/i

const shortForms: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const longestMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Reads five fields (minute, hour, day of the month, month, weekday) or a short form such as `@daily`. */
export function parseCron(text: string): Cron {
  if (typeof text !== 'string') throw invalid(`cron is ${whatWasGiven(text)}, not text.`)
  const parts = (shortForms[text.trim().toLowerCase()] ?? text).trim().split(/\s+/)
  if (text.trim().startsWith('@') && parts.length === 1)
    throw invalid(`${quoted(text)} is unknown. Known are: ${Object.keys(shortForms).join(', ')}.`)
  if (parts.length !== fields.length)
    throw invalid(
      `${quoted(text)} has ${parts.length} fields, but must have 5: minute, hour, day of the month, month, weekday.`,
    )
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) =>
    valuesOf(field, parts[index] as string, text),
  ) as [Values, Values, Values, Values, Values]
  const cron = {
    minutes: sorted(minutes.all),
    hours: sorted(hours.all),
    days: days.all,
    months: months.all,
    weekdays: new Set([...weekdays.all].map((day) => day % 7)),
    isEitherDay: !days.isAny && !weekdays.isAny,
    isEveryHour: hours.all.size === 24,
  }
  if (!cron.isEitherDay && weekdays.isAny && ![...cron.months].some((month) => hasDay(month, cron.days)))
    throw invalid(`${quoted(text)} never comes: no such month has such a day.`)
  return cron
}

interface Values {
  readonly all: ReadonlySet<number>
  /** It begins with a star, so it restricts no day by itself. */
  readonly isAny: boolean
}

function valuesOf(field: Field, given: string, text: string): Values {
  const all = new Set<number>()
  for (const part of given.split(',')) for (const value of rangeOf(field, part, text)) all.add(value)
  return { all, isAny: given.startsWith('*') }
}

/** One of `*`, `5`, `1-5`, each with a step or without: `*` + `/15`. */
function rangeOf(field: Field, part: string, text: string): readonly number[] {
  const { name, from, to } = field
  const wrong = (why: string) => invalid(`The ${name} ${quoted(part)} in ${quoted(text)} ${why}.`)
  const match = /^(?:\*|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/(\d+))?$/i.exec(part)
  if (match === null || unsupported.test(part))
    throw wrong(
      unsupported.test(part)
        ? 'is not supported: L, W, # and ? are not'
        : 'is not *, a value, a range or a list of them, with a step or without',
    )
  const [, low, high, step] = match
  const numberOf = (given: string): number => {
    const named = field.names?.indexOf(given.toLowerCase()) ?? -1
    // Digits alone: Number() also reads 1e1 and 0x5.
    const value = named >= 0 ? named + from : /^\d+$/.test(given) ? Number(given) : Number.NaN
    if (value >= from && value <= to) return value
    throw wrong(`must be from ${from} to ${to}${field.names ? `, or ${field.names.join(', ')}` : ''}`)
  }
  const first = low === undefined ? from : numberOf(low)
  const last = high !== undefined ? numberOf(high) : low === undefined || step !== undefined ? to : first
  if (last < first) throw wrong('ends before it begins')
  const by = step === undefined ? 1 : Number(step)
  if (by < 1) throw wrong('has a step of 0')
  // Somebody who writes */90 means every ninety minutes, and would get one tick in every hour.
  if (by > Math.max(1, last - first)) throw wrong(`has a step that leads beyond ${last}`)
  return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, index) => first + index * by)
}

function hasDay(month: number, days: ReadonlySet<number>): boolean {
  return Math.min(...days) <= (longestMonth[month - 1] as number)
}

function sorted(values: ReadonlySet<number>): number[] {
  return [...values].sort((a, b) => a - b)
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

function invalid(message: string): JustonceError {
  return new JustonceError('SCHEDULE_INVALID', { message })
}
