import type { AlertEpisode, DueNotice } from '../facts/index.ts'
import { type AlertCondition, type AlertNotice, alertConditions } from './rule.ts'

export function noticeOf(name: string, episode: AlertEpisode, due: DueNotice): AlertNotice {
  const { rule, over, app } = episode
  const when = episode.when as AlertCondition
  const { state, value } = due
  const notice = { state, rule, when, value, over, app, since: new Date(due.since), at: new Date(due.at) }
  return { id: `${name} ${due.id}`, ...notice, text: textOf(notice) }
}

/** Such as: `dead-letters is firing: 12, limit 0 (how many dead letters there are), since 2030-01-01T00:00:00.000Z`. */
function textOf({ state, rule, when, value, over, app, since }: Omit<AlertNotice, 'id' | 'text'>): string {
  const of = app === undefined ? rule : `${rule} of ${app}`
  const is = state === 'firing' ? 'is firing' : 'is resolved'
  return `${of} ${is}: ${rounded(value)}, limit ${rounded(over)} (${alertConditions[when]}), since ${since.toISOString()}`
}

function rounded(value: number): number {
  return value >= 1 ? Math.round(value) : Number(value.toPrecision(3))
}
