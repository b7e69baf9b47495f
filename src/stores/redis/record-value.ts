import type { InboxRecord, RecordState } from '../../contracts/index.ts'

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

/** Undefined: there is none, or it is not decided yet. */
export function readRecord(value: string | undefined): InboxRecord | undefined {
  const [, letter = '', at = '', fingerprint = '', , result] = /^([a-z])(\d+) (\S+)( (.*))?$/s.exec(value ?? '') ?? []
  const state = states.get(letter)
  if (state === undefined) return undefined
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
