import type { AlertEpisode, AlertIdentity, DueNotice } from '../facts/index.ts'

export interface Look {
  /** `undefined` if there is too little to say anything: that is not over any limit. */
  readonly value: number | undefined
  /** The database's time. */
  readonly now: number
  /** How much time a look may stand for at most: a clock that jumps, or a night without processes, makes nothing last longer. */
  readonly mostMs: number
}

/** As many as anybody wants to hear of when nobody could be told for a while. */
const mostNotices = 10

/** What a look at the number of a rule makes of its episode; `undefined` if there is nothing to keep. */
export function decideEpisode(
  rule: AlertIdentity,
  before: AlertEpisode | undefined,
  look: Look,
): AlertEpisode | undefined {
  const { now, value = 0, mostMs } = look
  const known = before ?? { ...rule, phase: 'quiet', heldMs: 0, seenAt: now, since: now, value, notices: [] }
  const lookedMs = Math.min(Math.max(0, now - known.seenAt), mostMs)
  const isOver = look.value !== undefined && look.value > rule.over
  const isUp = known.phase === 'firing' || known.phase === 'calming'
  const seen = { ...known, seenAt: now, value }
  if (isOver === isUp) {
    // As it was: quiet stays quiet, and what fires goes on.
    if (!isUp && known.notices.length === 0) return undefined
    return { ...seen, phase: isUp ? 'firing' : 'quiet', heldMs: 0, ...(!isUp && { since: now }) }
  }
  const isNew = known.phase === 'quiet' || known.phase === 'firing'
  const heldMs = isNew ? 0 : known.heldMs + lookedMs
  const since = known.phase === 'quiet' ? now : known.since
  if (heldMs < rule.forMs) return { ...seen, phase: isOver ? 'pending' : 'calming', heldMs, since }
  const state = isOver ? 'firing' : 'resolved'
  const id = `${state} ${since} ${now}`
  const notice: DueNotice = { id, state, value, at: now, since, attempts: 0 }
  const notices = [...known.notices, notice].slice(-mostNotices)
  return { ...seen, phase: isOver ? 'firing' : 'quiet', heldMs: 0, since, notices }
}
