import type { Clock, PackedMessage, Store, StoredParkedMessage } from '../contracts/index.ts'
import type { ReceivedReport } from '../facts/index.ts'

/** What every operation needs. */
export interface Site<Tx> {
  readonly store: Store<Tx>
  readonly clock: Clock
  readonly handlers: HandlerKnowledge
  /** What this process itself would report, if it is a started app. */
  readonly ownReport?: (() => ReceivedReport | undefined) | undefined
  /** Called after the commit, so that a running app need not wait for its next look. */
  changed(change: OperatorChange): void
}

export type OperatorChange =
  | { readonly kind: 'redrive-started' }
  | { readonly kind: 'redrive-stopped'; readonly id: string }
  | { readonly kind: 'record-forgotten' }
  | { readonly kind: 'retried' }
  | { readonly kind: 'pauses-changed' }
  | { readonly kind: 'intent-resolved' }

/** What only handlers know. */
export interface HandlerKnowledge {
  /** All names of a handler, the current one first. */
  namesOf(handler: string): readonly string[]
  /** Whether there is a handler for messages of this type. */
  isHandled(type: string): boolean
  /** The bytes of a body as messages of this type have it. `undefined` if it cannot be encoded. */
  encode(body: unknown, type: string): Uint8Array | undefined
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
