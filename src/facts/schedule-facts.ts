import { hash } from 'node:crypto'

/** What the store knows of a schedule. Times are milliseconds of the database's clock. */
export interface ScheduleState {
  readonly name: string
  readonly type: string
  /** The times as text; a schedule with other times begins anew. */
  readonly times: string
  /** All ticks up to here are done with. */
  readonly since: number
  /** The last tick for which there was a message. */
  readonly last: number | undefined
  readonly next: number
}

/** The kind of the facts in which the store keeps how far each schedule is. */
export const scheduleKind = 'schedule'

/** Schedules of one name with messages of different types are different schedules: two apps may have chosen the same name. */
export function factOf({ name, type }: Pick<ScheduleState, 'name' | 'type'>): string {
  return `${scheduleKind} ${hash('sha256', JSON.stringify([name, type]), 'base64url')}`
}

export function writeState(state: ScheduleState): string {
  return JSON.stringify(state)
}

/** `undefined` if it was changed by hand and says nothing: then the schedule begins anew. */
export function readState(value: string | undefined): ScheduleState | undefined {
  if (value === undefined) return undefined
  try {
    const { name, type, times, since, last, next } = JSON.parse(value) as ScheduleState
    return Number.isFinite(since) && Number.isFinite(next) ? { name, type, times, since, last, next } : undefined
  } catch {
    return undefined
  }
}
