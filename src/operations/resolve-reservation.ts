import type { Store, StoredParkedMessage } from '../contracts/index.ts'
import { cleanText } from '../encoding/clean-text.ts'
import { JustonceError } from '../errors/index.ts'
import { isReservationOver, longestReservationWhy, type ReservationState, reservationFact } from '../facts/index.ts'
import type { Resolution } from './resolve-intent.ts'

/** A reservation that has begun and not ended, as it was read. */
export interface ReservationUnderWay {
  readonly state: ReservationState
  readonly revision: number
}

/** The reservation that an intent stands for, if something may be set aside for it. */
export async function reservationUnderWay<Tx>(
  { facts }: Pick<Store<Tx>, 'facts'>,
  { messageId }: StoredParkedMessage,
): Promise<ReservationUnderWay | undefined> {
  const [fact] = await facts.read([reservationFact(messageId)])
  if (fact === undefined) return undefined
  const state = JSON.parse(fact.value) as ReservationState
  return isReservationOver(state) ? undefined : { state, revision: fact.revision }
}

/** Without its intent, nobody would confirm or cancel what is set aside. */
export function checkReservation({ state }: ReservationUnderWay, named: string, as: Resolution['as']): void {
  if (as === 'again' || (as === 'discarded' && state.decision !== 'confirm')) return
  const participants = Object.entries(state.participants).map(([name, each]) => `${name} is ${each}`)
  const decided = state.decision === 'confirm' ? ' and will be confirmed' : ''
  throw new JustonceError('RESERVATION_UNDER_WAY', {
    message: `${named} is a reservation that has begun${decided} (${participants.join(', ')}), so it cannot be resolved as ${as}.`,
  })
}

/** Decides, instead of its coordinator, that it is cancelled. False if that one has gone on meanwhile. */
export async function cancelReservation<Tx>(
  { facts }: Pick<Store<Tx>, 'facts'>,
  tx: Tx,
  { state, revision }: ReservationUnderWay,
  why: string,
): Promise<boolean> {
  if (state.decision === 'cancel') return true
  const participants = Object.fromEntries(Object.keys(state.participants).map((name) => [name, 'cancelling' as const]))
  const cancelled: ReservationState = {
    ...state,
    decision: 'cancel',
    why: cleanText(why, longestReservationWhy),
    participants,
  }
  const change = { name: reservationFact(state.id), from: revision, value: JSON.stringify(cancelled), forMs: undefined }
  const [changed] = await facts.change(tx, [change])
  return changed !== undefined
}
