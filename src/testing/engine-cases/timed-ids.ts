import { systemClock } from '../../clock/index.ts'
import type { Clock } from '../../contracts/index.ts'
import type { Bench, BenchAppOptions } from './bench.ts'

export const aDay = 86_400_000

/** The same for all calls: ids that are made again must be equal, at every hour of the day and past midnight. */
const begunAt = Date.now()

/** A UUIDv7 made this long ago, or in the future. The same number and time give the same id. */
export function madeAgo(ms: number, number = 1): string {
  const time = (begunAt - ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`
}

/** The clock of a machine that is this far ahead, or behind. */
export function clockAhead(ms: number): Clock {
  return { ...systemClock, now: () => new Date(Date.now() + ms) }
}

/** Ids of this app contain a time. */
export const timed = { ids: 'uuidv7' } as const satisfies BenchAppOptions

/** Raises the horizon as if all earlier records had been removed, and resolves to it. */
export async function raiseHorizon({ store }: Pick<Bench, 'store'>, keepMs: number): Promise<Date> {
  const { horizon } = (await store.retention?.raise(keepMs)) ?? {}
  if (horizon === undefined) throw new Error('The store has no horizon.')
  return horizon
}
