import type { StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import type { Engine } from '../engine/engine.ts'
import { runsOfLetters } from './letter-runs.ts'
import type { DeadLetter } from './types.ts'

/** Parked rows as people see them. */
export async function describeLetters<Tx>(
  engine: Engine<Tx>,
  rows: readonly StoredParkedMessage[],
): Promise<readonly DeadLetter[]> {
  const runs = await runsOfLetters(engine, rows)
  return rows.map((row, index) => {
    const done = (runs[index] ?? []).filter(({ isDone }) => isDone).map(({ handler }) => handler.name)
    return describe(row, done)
  })
}

function describe(row: StoredParkedMessage, doneHandlers: readonly string[]): DeadLetter {
  const { handler, key, sequence, messageId, type, source, reason, shape, attempts, parkedAt, orderKey, redrive } = row
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
    diedAt: row.changedAt,
    headers,
    body: readable(body),
    orderKey,
    group: { handler, reason, shape },
    redrive,
    edited: row.originalBody !== undefined,
    ...(row.originalBody !== undefined && { originalBody: readable(row.originalBody) }),
    doneHandlers,
  }
}

const strict = new TextDecoder('utf-8', { fatal: true })

function readable(body: Uint8Array): unknown {
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
