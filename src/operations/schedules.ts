import { readState, scheduleKind } from '../facts/schedule-facts.ts'
import { keepAudit } from './audit.ts'
import { checkText } from './letter-filter.ts'
import type { Site } from './site.ts'
import type { ScheduleOperations, ScheduleStatus } from './types.ts'
import { checkWhoAndWhy } from './who-and-why.ts'

const mostSchedules = 1_000

export function scheduleOperations<Tx>(site: Site<Tx>): ScheduleOperations {
  const { store } = site
  return {
    async list() {
      const facts = await store.facts.list(scheduleKind, mostSchedules)
      const found = facts.flatMap(({ value }): readonly ScheduleStatus[] => {
        const state = readState(value)
        if (state === undefined) return []
        const { name, type, times, last, next } = state
        return [
          { name, type, times, lastTick: last === undefined ? undefined : new Date(last), nextTick: new Date(next) },
        ]
      })
      return found.sort((a, b) => (`${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1))
    },
    async forget(name, whoAndWhy) {
      const { by, why } = checkWhoAndWhy(whoAndWhy, 'forget()')
      checkText(name, 'The name of a schedule')
      const facts = await store.facts.list(scheduleKind, mostSchedules)
      const found = facts.filter(({ value }) => readState(value)?.name === name)
      if (found.length === 0) return false
      await store.transaction(async (tx) => {
        await store.facts.remove(
          tx,
          found.map((fact) => fact.name),
        )
        await keepAudit(site, tx, { action: 'forget-schedule', by, why, subject: { schedule: name } })
      })
      return true
    },
  }
}
