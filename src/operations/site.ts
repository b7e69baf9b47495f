import type { Clock, PackedMessage, Store, StoredParkedMessage } from '../contracts/index.ts'

/** What every operation works with. */
export interface Site<Tx> {
  readonly store: Store<Tx>
  readonly clock: Clock
  readonly handlers: HandlerKnowledge
  /** It has been committed: a running app need not wait for its next look. */
  changed(change: OperatorChange): void
}

export type OperatorChange =
  | { readonly kind: 'redrive-started' }
  | { readonly kind: 'redrive-stopped'; readonly id: string }
  | { readonly kind: 'record-forgotten' }
  | { readonly kind: 'retried' }

/** What only handlers can tell. */
export interface HandlerKnowledge {
  /** All names of a handler, its present one first. */
  namesOf(handler: string): readonly string[]
  /** Whether the letter's expiry has passed. */
  isTooLate(letter: StoredParkedMessage): boolean
  /** The handlers of each letter's message, one list for each letter. Undefined: nobody here knows them. */
  runsOf(letters: readonly StoredParkedMessage[]): Promise<readonly (readonly LetterRun[])[] | undefined>
  /** The letter's message with another body. Rejects where its handlers could not take that. */
  editedMessage(letter: StoredParkedMessage, body: unknown): Promise<PackedMessage>
}

/** One handler of a letter's message, and what its record says. */
export interface LetterRun {
  readonly handler: string
  /** It has processed this message. */
  readonly isDone: boolean
  /** There is a record of its key, be it of this message or of another one. */
  readonly isKnown: boolean
}
