export type { ReservationResult } from './coordinate.ts'
export type { Participant, ReservationCall } from './participant.ts'
export { participantIn, type StepsIn } from './participant-in.ts'
export type { ReservationOptions } from './reservation-effect.ts'
