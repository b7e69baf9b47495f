import type { InboxRecord, RecordState } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'

/**
 * A record is one string: a letter for its state, when it was processed, its fingerprint, and the result if there is
 * one. A claim that is not decided yet is `C` and the token of its transaction.
 */
export const stateLetters = { processed: 'p', parked: 'k', expired: 'e', discarded: 'd' } as const satisfies Record<
  RecordState,
  string
>

/** A command of its handler has failed after others were applied. */
export const partlyLetter = 'x'

const states = new Map<string, RecordState>([
  ...Object.entries(stateLetters).map(([state, letter]) => [letter, state as RecordState] as const),
  // It failed, and whoever meets it has to park it.
  [partlyLetter, 'parked'],
])

/** What every record that is decided begins with, as Lua says it. */
export const recordPattern = `^[${[...states.keys()].join('')}]%d+ %S`

/** Begins the value of a claim; what follows is the token. */
export const claimLetter = 'C'

/**
 * Undefined: there is none, or it is not decided yet. What cannot be read is neither: nobody knows whether its message
 * was handled.
 */
export function readRecord(value: string | undefined, name: string): InboxRecord | undefined {
  if (value === undefined || value.startsWith(claimLetter)) return undefined
  const [, letter = '', at = '', fingerprint = '', , result] = /^([a-z])(\d+) (\S+)( (.*))?$/s.exec(value) ?? []
  const state = states.get(letter)
  if (state === undefined) throw unreadable(name)
  return {
    state,
    processedAt: new Date(Number(at)),
    fingerprint: fingerprint === '-' ? undefined : new Uint8Array(Buffer.from(fingerprint.slice(1), 'base64')),
    result,
  }
}

/** What follows the state and the time. */
export function recordTail(fingerprint: Uint8Array | undefined, result: string | undefined): string {
  const print = fingerprint === undefined ? '-' : `=${Buffer.from(fingerprint).toString('base64')}`
  return result === undefined ? ` ${print}` : ` ${print} ${result}`
}

export function unreadable(name: string): JustonceError {
  return new JustonceError('RECORD_UNREADABLE', { message: `The value of the key ${name} is no record of this store.` })
}
