import type { StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'

/**
 * Since when a message has waited for another attempt. One that was redriven has a new life: the days for which it was a dead letter
 * count for nothing.
 */
export function waitingSince({
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
