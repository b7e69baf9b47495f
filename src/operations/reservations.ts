import type { Fact, Store } from '../contracts/index.ts'
import { intentHandler } from '../encoding/intent-name.ts'
import { type ReservationState, reservationFact, reservationFacts, timeOfRevision } from '../facts/index.ts'
import { checkIntentKey } from './intent-key.ts'
import type { IntentKey } from './intent-types.ts'
import { checkText } from './letter-filter.ts'
import type { ReservationOperations, ReservationView } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

type Stored = Pick<Store<never>, 'facts' | 'parking'>

export function reservationOperations(store: Stored): ReservationOperations {
  const list = async (limit: number): Promise<readonly ReservationView[]> =>
    (await store.facts.list(reservationFacts, limit)).map(view)
  const byId = async (id: string): Promise<ReservationView | undefined> => {
    const [fact] = await store.facts.read([reservationFact(id)])
    return fact && view(fact)
  }
  return {
    async list(limit = 100) {
      checkWhole(limit, 'limit', 1, mostListed)
      return await list(limit)
    },
    async get(which) {
      if (typeof which === 'string') {
        checkText(which, 'The id of a reservation')
        return await byId(which)
      }
      const { effect, key } = checkIntentKey(which)
      const id = await idOf(store, { effect, key })
      if (id !== undefined) return await byId(id)
      return (await list(mostListed)).find((each) => each.reservation === effect && each.key === key)
    },
  }
}

/** The idempotency key, if the intent has not ended. */
async function idOf({ parking }: Stored, { effect, key }: IntentKey): Promise<string | undefined> {
  const [row] = await parking.list({ kind: 'intent', handler: intentHandler(effect), key }, { limit: 1 })
  return row?.messageId
}

function view({ value, revision }: Fact): ReservationView {
  const { triedSince, ...state } = JSON.parse(value) as ReservationState
  return {
    ...state,
    ...(triedSince !== undefined && { triedSince: new Date(triedSince) }),
    changedAt: timeOfRevision(revision),
  }
}
