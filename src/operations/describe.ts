import type { StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
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
    body: readable(body),
    orderKey,
    redrive,
    edited: row.originalBody !== undefined,
    ...(row.originalBody !== undefined && { originalBody: readable(row.originalBody) }),
  }
}

const strict = new TextDecoder('utf-8', { fatal: true })

export function readable(body: Uint8Array): unknown {
  let text: string
  try {
    text = strict.decode(body)
  } catch {
    return body
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
