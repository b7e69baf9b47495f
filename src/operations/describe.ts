import type { StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { readableBody } from './readable-body.ts'
import type { DeadLetter, ParkedView, WaitingRetry } from './types.ts'

/** Parked rows as operators see them. Nothing here may throw: one that cannot be read must not hide the others. */
export function describeLetter(row: StoredParkedMessage): DeadLetter {
  const { handler, reason, shape, changedAt } = row
  return { ...describe(row), diedAt: changedAt, group: { handler, reason, shape } }
}

export function describeRetry(row: StoredParkedMessage): WaitingRetry {
  return { ...describe(row), nextAt: row.nextAt, changedAt: row.changedAt, begun: row.begun }
}

function describe(row: StoredParkedMessage): ParkedView {
  const { handler, key, sequence, messageId, type, source, reason, attempts, parkedAt, orderKey, redrive } = row
  const { headers, body } = unpackLetter(row.message)
  return {
    handler,
    key,
    sequence,
    messageId,
    type,
    source,
    reason,
    attempts,
    errors: readErrorNotes(row.errors).map(({ at, message }) => ({ at: new Date(at), message })),
    parkedAt,
    headers,
    body: readableBody(body),
    orderKey,
    businessId: row.businessId,
    redrive,
    edited: row.originalBody !== undefined,
    ...(row.originalBody !== undefined && { originalBody: readableBody(row.originalBody) }),
  }
}
