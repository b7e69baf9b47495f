export type ParticipantState =
  | 'trying'
  | 'reserved'
  | 'refused'
  | 'confirming'
  | 'confirmed'
  | 'cancelling'
  | 'cancelled'

/** Where a reservation stands: one fact, on which processes agree and which operators can read. */
export interface ReservationState {
  readonly reservation: string
  /** The idempotency key of its intent. */
  readonly id: string
  /** The key that was given to `intend`, or the idempotency key. */
  readonly key?: string
  /** Once it is there, it never changes. */
  readonly decision?: 'confirm' | 'cancel' | undefined
  /** Why it was cancelled. */
  readonly why?: string | undefined
  /** When its participants were first tried, by the database's clock, if something was missing then. */
  readonly triedSince?: number | undefined
  readonly participants: Readonly<Record<string, ParticipantState>>
}

/** Facts of this kind are the states of reservations. */
export const reservationFacts = 'reservation'

/** Whether every participant has been confirmed or cancelled. */
export function isReservationOver({ participants }: Pick<ReservationState, 'participants'>): boolean {
  return Object.values(participants).every((each) => each === 'confirmed' || each === 'cancelled')
}

/** How many characters of a reason are kept. */
export const longestReservationWhy = 300

export function reservationFact(id: string): string {
  return `${reservationFacts} ${id}`
}
