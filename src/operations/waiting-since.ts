import type { ParkedFilter, Parking, StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'

/**
 * Since when a message has waited for another attempt. One that was redriven has a new life: the days for which it was a dead letter
 * count for nothing.
 */
function waitingSince({
  released,
  attempts,
  parkedAt,
  changedAt,
  errors,
}: Pick<StoredParkedMessage, 'released' | 'attempts' | 'parkedAt' | 'changedAt' | 'errors'>): Date {
  if (!released) return parkedAt
  if (attempts === 0) return changedAt
  // Its attempts began anew when it was released, and each that failed has left a note.
  const firstFailed = new Date(readErrorNotes(errors).slice(-attempts)[0]?.at ?? Number.NaN)
  return firstFailed > parkedAt ? firstFailed : parkedAt
}

/**
 * Since when the message that has waited longest for another attempt has waited. Rows come in the order in which they were parked,
 * which one that was redriven no longer stands for.
 */
export async function longestWaitSince(parking: Pick<Parking<never>, 'list'>): Promise<Date | undefined> {
  const first = async (filter: ParkedFilter) => (await parking.list(filter, { limit: 1, maxBytes: 1 }))[0]
  const oldest = await first({ state: 'waiting' })
  const others = oldest?.released ? await first({ state: 'waiting', released: false }) : undefined
  const since = [oldest, others].flatMap((row) => (row === undefined ? [] : [waitingSince(row).getTime()]))
  return since.length === 0 ? undefined : new Date(Math.min(...since))
}
