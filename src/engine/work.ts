import type { Delivery, InboxRecord, Message, OutgoingMessage } from '../contracts/index.ts'
import type { JustonceError } from '../errors/index.ts'
import type { Handler } from './handler.ts'

/** One delivery that can be handled, with everything its handlers need. */
export interface Work<Tx> {
  readonly delivery: Delivery
  /** In registration order. */
  readonly runs: readonly Run<Tx>[]
}

/** One handler for one message: what is claimed, run and recorded. */
export interface Run<Tx> {
  readonly work: Work<Tx>
  readonly handler: Handler<Tx>
  readonly message: Message
  readonly key: string
  readonly fingerprint: Uint8Array | undefined
  /** Set when it is known to fail (it does not fit the handler's schema, or its time was up before): it is not run. */
  readonly failure: { readonly error: unknown } | undefined
}

/** A delivery that no handler can take, and why; it becomes a dead letter. */
export interface Refusal {
  readonly delivery: Delivery
  readonly error: JustonceError
}

/** What became of a run in one attempt at a transaction. */
export type RunOutcome =
  | { readonly kind: 'processed'; readonly products: RunProducts }
  | { readonly kind: 'duplicate'; readonly record: InboxRecord }
  /** Its parked row owns it already. */
  | { readonly kind: 'parked' }
  | { readonly kind: 'conflict'; readonly record: InboxRecord }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** An earlier handler of the message has failed; this one follows it. */
  | { readonly kind: 'waiting'; readonly behind: string }
  /** At most once: recorded now, run after the acknowledgement. */
  | { readonly kind: 'after-ack' }
  /** The batch's time was up before it began; its claim is given back. */
  | { readonly kind: 'unstarted' }

/** What a run leaves behind that has to be written, or done after the commit. */
export interface RunProducts {
  readonly result: string | undefined
  readonly outgoing: readonly OutgoingMessage[]
  readonly afterCommit: readonly (() => unknown)[]
}

export type Outcomes<Tx> = Map<Run<Tx>, RunOutcome>
