import { anyText } from '../encoding/any-text.ts'

/** One step of a reservation, as a participant gets it. */
export interface ReservationCall<Body = unknown> {
  /** The name of the reservation, as it was registered. */
  readonly reservation: string
  /** The name of the participant in it. */
  readonly participant: string
  /** The same for all steps of one reservation, and different for any two. */
  readonly id: string
  readonly body: Body
  /** The same however often this step is repeated, and different for any two steps. */
  readonly idempotencyKey: string
  /** Aborted when the time of this call is up. The step is repeated later. */
  readonly signal: AbortSignal
}

/**
 * One resource of a reservation. Each step may be called more than once with the same `idempotencyKey`; `participantIn(store, …)`
 * makes sure that it takes effect once.
 * You must, if you write one by hand: let `cancel` succeed although `try` never arrived, and refuse a `try` that arrives after
 * it.
 */
export interface Participant<Body = unknown> {
  /**
   * Sets the resource aside. Throw a `PermanentError` (or a permanent `DidNotHappen`) to refuse: then the whole reservation is cancelled. After any other error
   * it is tried again, until the time of the reservation is up. If it was cancelled before, refuse; if it was confirmed before,
   * return `'confirmed'`: then the whole reservation is, although the one who decided that has forgotten it.
   */
  try(call: ReservationCall<Body>): unknown
  /** Takes what was set aside. Repeated until it succeeds. */
  confirm(call: ReservationCall<Body>): unknown
  /** Gives back what was set aside. Repeated until it succeeds. */
  cancel(call: ReservationCall<Body>): unknown
}

export type Step = keyof Participant

/** How the attempt to set a resource aside has ended. */
export type Tried =
  | { readonly kind: 'reserved' }
  /** Long ago: somebody has decided it, and forgotten that, because a backup was restored. */
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'refused'; readonly error: unknown }
  /** Nobody knows whether it was set aside. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** Never throws: what a participant throws must not keep the others from being cancelled. */
export function messageOf(error: unknown): string {
  try {
    return anyText(error instanceof Error ? error.message : error)
  } catch {
    return 'an error that cannot be read'
  }
}

/** An error of ours, because the one that was thrown could mean to an intent that it is over: then nobody would end what was begun. */
export function failed(step: Step, participant: string, cause: unknown): Error {
  return new Error(`${step} of ${participant} failed: ${messageOf(cause)}`, { cause })
}
