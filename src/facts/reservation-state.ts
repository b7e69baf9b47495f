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

export function reservationFact(id: string): string {
  return `${reservationFacts} ${id}`
}
