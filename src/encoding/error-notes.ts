import { inspect } from 'node:util'
import { cleanText } from './clean-text.ts'

export interface ErrorNote {
  readonly at: string
  readonly message: string
}

const notesKept = 20
const noteLength = 4_000

/** The error history as JSON text, with one more error. The oldest are dropped. */
export function addErrorNote(history: string, error: unknown, at: Date): string {
  const notes = [...readErrorNotes(history), { at: at.toISOString(), message: cleanText(describe(error), noteLength) }]
  return JSON.stringify(notes.slice(-notesKept))
}

/** Never throws: a history that cannot be read becomes one note. */
export function readErrorNotes(history: string): readonly ErrorNote[] {
  try {
    const notes: unknown = history === '' ? [] : JSON.parse(history)
    if (Array.isArray(notes) && notes.every(isNote)) return notes
  } catch {
    // Not JSON.
  }
  return [{ at: new Date(0).toISOString(), message: history }]
}

function isNote(value: unknown): value is ErrorNote {
  if (typeof value !== 'object' || value === null) return false
  return 'at' in value && 'message' in value && typeof value.message === 'string'
}

const causesShown = 5

/** Never throws: anything can be thrown, and it must not keep the message from being parked. */
function describe(error: unknown, depth = 0): string {
  try {
    if (!(error instanceof Error)) return typeof error === 'object' ? inspect(error) : String(error)
    const text = String(error.stack ?? `${error.name}: ${error.message}`)
    if (error.cause === undefined || depth === causesShown) return text
    return `${text}\ncaused by: ${describe(error.cause, depth + 1)}`
  } catch {
    return 'something that cannot be described'
  }
}
