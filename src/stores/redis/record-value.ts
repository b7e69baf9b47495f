import type { InboxRecord, RecordState } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { statesByLetter } from '../shared/state-letters.ts'

/**
 * A record is one string: a letter for its state, when it was processed, its fingerprint, and the result if there is one. An
 * undecided claim is `C` and the token of its transaction.
 *
 * This letter says that a command of the handler has failed after others were applied.
 */
export const partlyLetter = 'x'

const states = new Map<string, RecordState>([
  ...statesByLetter,
  // It failed, and the next process that finds it must park it.
  [partlyLetter, 'parked'],
])

/** A Lua pattern for the beginning of every decided record. */
export const recordPattern = `^[${[...states.keys()].join('')}]%d+ %S`

/** The first letter of a claim; the token follows. */
export const claimLetter = 'C'

/**
 * `undefined` if there is no record, or an undecided one. Throws if it cannot be read, because then nobody knows whether its
 * message was handled.
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

/** What follows the state and the time in a record. */
export function recordTail(fingerprint: Uint8Array | undefined, result: string | undefined): string {
  const print = fingerprint === undefined ? '-' : `=${Buffer.from(fingerprint).toString('base64')}`
  return result === undefined ? ` ${print}` : ` ${print} ${result}`
}

export function unreadable(name: string): JustonceError {
  return new JustonceError('RECORD_UNREADABLE', {
    message: `The value of the key ${name} is not what this store keeps there.`,
  })
}
