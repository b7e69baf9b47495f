import type { Clock, PackedMessage, Store, StoredParkedMessage } from '../contracts/index.ts'

/** What every operation needs. */
export interface Site<Tx> {
  readonly store: Store<Tx>
  readonly clock: Clock
  readonly handlers: HandlerKnowledge
  /** Called after the commit, so that a running app need not wait for its next look. */
  changed(change: OperatorChange): void
}

export type OperatorChange =
  | { readonly kind: 'redrive-started' }
  | { readonly kind: 'redrive-stopped'; readonly id: string }
  | { readonly kind: 'record-forgotten' }
  | { readonly kind: 'retried' }

/** What only handlers know. */
export interface HandlerKnowledge {
  /** All names of a handler, the current one first. */
  namesOf(handler: string): readonly string[]
  /** Whether the dead letter's expiry has passed. */
  isTooLate(letter: StoredParkedMessage): boolean
  /** The handlers of each message, one list per dead letter. `undefined` if the handlers are not known here. */
  runsOf(letters: readonly StoredParkedMessage[]): Promise<readonly (readonly LetterRun[])[] | undefined>
  /** The dead letter's message with another body. Rejects if its handlers could not take it. */
  editedMessage(letter: StoredParkedMessage, body: unknown): Promise<PackedMessage>
}

/** One handler of a dead letter's message, and what its record says. */
export interface LetterRun {
  readonly handler: string
  /** It has processed this message. */
  readonly isDone: boolean
  /** There is a record of its key, whether of this message or of another one. */
  readonly isKnown: boolean
}
