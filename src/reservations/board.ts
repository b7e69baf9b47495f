import type { Facts } from '../contracts/index.ts'
import { cleanText } from '../encoding/clean-text.ts'
import { isReservationOver, longestReservationWhy, type ReservationState, reservationFact } from '../facts/index.ts'

/** For how long the state of a reservation that has ended can be read. */
const readableForMs = 7 * 24 * 3_600_000

/** The state of one reservation, as this process knows it. */
export class Board {
  readonly #facts: Pick<Facts<never>, 'read' | 'change'>
  readonly #name: string
  #revision: number | undefined
  state: ReservationState

  constructor(facts: Pick<Facts<never>, 'read' | 'change'>, initial: ReservationState) {
    this.#facts = facts
    this.#name = reservationFact(initial.id)
    this.state = initial
  }

  /**
   * Afterwards the state is stored, so that nobody takes the intent for one for which nothing is set aside. `isNew`: it probably is not
   * there yet.
   */
  async open(isNew: boolean): Promise<void> {
    if (isNew && (await this.#write(this.state))) return
    const [fact] = await this.#facts.read([this.#name])
    this.#revision = fact?.revision
    if (fact !== undefined) this.state = JSON.parse(fact.value)
    else await this.change({})
  }

  /**
   * Rejects if another process has changed the state since it was read: then that process has taken over, and this one must
   * not go on.
   */
  async change(change: Partial<ReservationState>): Promise<void> {
    const why = change.why === undefined ? this.state.why : cleanText(change.why, longestReservationWhy)
    const state = { ...this.state, ...change, ...(why !== undefined && { why }) }
    if (!(await this.#write(state))) throw new Error(`Another process has taken over the reservation ${state.id}.`)
  }

  /** False if it is not as this process knows it. */
  async #write(state: ReservationState): Promise<boolean> {
    const forMs = isReservationOver(state) ? readableForMs : undefined
    const [revision] = await this.#facts.change(undefined, [
      { name: this.#name, from: this.#revision, value: JSON.stringify(state), forMs },
    ])
    if (revision === undefined) return false
    this.#revision = revision
    this.state = state
    return true
  }
}
