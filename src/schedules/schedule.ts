import { checkChoice, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { parseCron } from './cron.ts'
import type { Missed, OwnSchedule } from './decide-ticks.ts'
import type { Timing } from './ticks.ts'
import { timeZone } from './time-zone.ts'

/** When a schedule publishes, and what. */
export interface ScheduleOptions {
  /** Five fields: minute, hour, day of the month, month, weekday. Or a short form such as `@daily`. One of `cron` and `everyMs`. */
  readonly cron?: string
  /** Every so many milliseconds, at least 1,000, counted from 1970 UTC. */
  readonly everyMs?: number
  /** Where the times of `cron` are local, by its IANA name. Default: `UTC`. */
  readonly timeZone?: string
  /** The type of the messages. It needs a route, as for `publish`. */
  readonly type: string
  /** The body of each message; its `sentAt` is the time of the tick. */
  readonly body: unknown
  /** Messages of one key keep their order if the broker has an order. Default: none. */
  readonly key?: string
  /** Headers that travel with the body. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * What becomes of ticks that nobody was there to make: no message (`skip`), one for the last of them (`last`), or one for each,
   * the latest 1,000 at most (`all`). Default: `last`.
   */
  readonly missed?: Missed
}

/** A schedule with everything that it publishes. */
export interface Schedule extends OwnSchedule, Pick<ScheduleOptions, 'body' | 'key' | 'headers'> {}

const known = ['cron', 'everyMs', 'timeZone', 'type', 'body', 'key', 'headers', 'missed']
const shortestMs = 1_000
const longestMs = 366 * 86_400_000

export function decideSchedule(name: string, options: ScheduleOptions): Schedule {
  if (typeof name !== 'string' || !/^[\x20-\x7e]{1,100}$/.test(name) || name.trim() !== name)
    throw invalid(`The name of a schedule is ${JSON.stringify(name)}, but must be 1 to 100 printable characters.`)
  checkOptions(options, known, `schedule(${JSON.stringify(name)}, …)`)
  const { type, body, key, headers, missed = 'last' } = options
  if (typeof type !== 'string' || type === '') throw invalid(`The schedule ${name} has no type of message.`)
  checkChoice(missed, `missed of the schedule ${name}`, ['skip', 'last', 'all'])
  const content = { body, ...(key !== undefined && { key }), ...(headers !== undefined && { headers }) }
  return { name, type, missed, ...content, ...timesOf(name, options) }
}

function timesOf(name: string, { cron, everyMs, timeZone: zone }: ScheduleOptions): { times: string; timing: Timing } {
  if ((cron === undefined) === (everyMs === undefined))
    throw invalid(`The schedule ${name} needs either cron or everyMs.`)
  if (everyMs !== undefined) {
    if (zone !== undefined) throw invalid(`The schedule ${name} has everyMs, to which a timeZone means nothing.`)
    checkNumber(everyMs, `everyMs of the schedule ${name}`, shortestMs, longestMs)
    return { times: `every ${everyMs} ms`, timing: { kind: 'every', everyMs } }
  }
  const where = zone ?? 'UTC'
  const timing = { kind: 'cron', cron: parseCron(cron as string), offsetAt: timeZone(where) } as const
  return { times: `${(cron as string).trim().split(/\s+/).join(' ')} (${where})`, timing }
}

function invalid(message: string): JustonceError {
  return new JustonceError('SCHEDULE_INVALID', { message })
}
