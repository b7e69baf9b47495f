import type { Fact, Store } from '../contracts/index.ts'
import { type ReservationState, reservationFact, reservationFacts, timeOfRevision } from '../facts/index.ts'
import type { ReservationOperations, ReservationView } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

export function reservationOperations({ facts }: Pick<Store<never>, 'facts'>): ReservationOperations {
  return {
    async list(limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      return (await facts.list(reservationFacts, limit)).map(view)
    },
    async get(id) {
      const [fact] = await facts.read([reservationFact(id)])
      return fact && view(fact)
    },
  }
}

function view({ value, revision }: Fact): ReservationView {
  const { triedSince, ...state } = JSON.parse(value) as ReservationState
  return {
    ...state,
    ...(triedSince !== undefined && { triedSince: new Date(triedSince) }),
    changedAt: timeOfRevision(revision),
  }
}
