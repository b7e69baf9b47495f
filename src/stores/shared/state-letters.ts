import type { RecordState } from '../../contracts/index.ts'

/** For stores that keep the state of a record in one byte. They all use the same letters. */
export const stateLetters = { processed: 'p', parked: 'k', expired: 'e', discarded: 'd' } as const satisfies Record<
  RecordState,
  string
>

export const statesByLetter: ReadonlyMap<string, RecordState> = new Map(
  Object.entries(stateLetters).map(([state, letter]) => [letter, state as RecordState]),
)
