import type { OrderScope } from '../../contracts/index.ts'
import { fittedText } from '../../encoding/fit-text.ts'
import type { Engine } from '../engine.ts'
import { isGoodEnd, isUnclaimed, type Outcomes, type Run, type RunOutcome, unclaimedLetter } from '../items.ts'

/** The order of messages of one key, for handlers that keep it: who must follow a message that waits. */
export class KeyOrder<Tx> {
  /** Of each scope the runs of this batch, in the order in which they are made. */
  readonly #scopes = new Map<string, Run<Tx>[]>()
  /** The same of those that come from parked rows. */
  readonly #placed = new Map<string, Run<Tx>[]>()
  /** Scopes of which something is parked already, with the name of the handler that it is parked under. */
  readonly #blocked = new Map<string, string>()

  /** Locks the scopes of a batch: from here on until its end nobody else runs or parks a message of them. */
  static async lock<Tx>(engine: Engine<Tx>, tx: Tx, runs: readonly Run<Tx>[]): Promise<KeyOrder<Tx>> {
    const order = new KeyOrder<Tx>()
    const scopes = new Map<string, OrderScope>()
    for (const run of runs) {
      const orderKey = orderKeyOf(run)
      if (orderKey === undefined) continue
      const id = scopeId(run.handler.name, orderKey)
      if (hasItsPlace(run)) {
        order.#placed.set(id, [...(order.#placed.get(id) ?? []), run])
        continue
      }
      const others = order.#scopes.get(id)
      if (others === undefined) order.#scopes.set(id, [run])
      else others.push(run)
      const pastDead = run.handler.ordered?.whenDead === 'continue'
      for (const handler of [run.handler.name, ...run.handler.formerly])
        scopes.set(scopeId(handler, orderKey), { handler, orderKey, pastDead })
    }
    if (scopes.size > 0) await order.#look(engine, tx, scopes)
    return order
  }

  async #look(engine: Engine<Tx>, tx: Tx, scopes: ReadonlyMap<string, OrderScope>): Promise<void> {
    // Sorted, so that two batches never wait for each other's keys in a circle.
    const sorted = [...scopes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, scope]) => scope)
    const answers = await engine.store.parking.blocked(tx, sorted)
    sorted.forEach(({ handler, orderKey }, index) => {
      const current = engine.handlerNamed(handler)?.name ?? handler
      const id = scopeId(current, orderKey)
      if (answers[index] && (handler === current || !this.#blocked.has(id))) this.#blocked.set(id, handler)
    })
  }

  /** What a run comes to because of the messages before it; undefined: nothing stands before it. */
  hindrance(run: Run<Tx>, outcomes: Outcomes): RunOutcome | undefined {
    const orderKey = orderKeyOf(run)
    if (orderKey === undefined) return undefined
    const id = scopeId(run.handler.name, orderKey)
    if (hasItsPlace(run)) return this.#behindTheRow(run, id, outcomes)
    let waits = this.#blocked.has(id)
    for (const other of this.#scopes.get(id) ?? []) {
      if (other.index === run.index) break
      const outcome = outcomes[other.index]
      // To be parked before one that is left for another time would be to overtake it, whatever else stands before both.
      if (outcome?.kind === 'unstarted') return outcome
      if (outcome?.kind === 'apart') return { kind: 'unstarted' }
      if (outcome?.kind === 'waiting' || holdsUp(other, outcome)) waits = true
    }
    return waits ? { kind: 'waiting', behind: 'message' } : undefined
  }

  /** Rows of one key are taken in their order: behind one that stays, the others stay, too. */
  #behindTheRow(run: Run<Tx>, id: string, outcomes: Outcomes): RunOutcome | undefined {
    for (const other of this.#placed.get(id) ?? []) {
      if (other.index === run.index) return undefined
      const outcome = outcomes[other.index]
      if (outcome !== undefined && !isGoodEnd(outcome)) return { kind: 'unstarted' }
    }
    return undefined
  }

  /**
   * What would be parked without a claim must not get before one of its key that is left for another time. And what waits
   * behind rows of an old name of its handler waits under that name: rows of one name are taken in their order.
   */
  keepBehind(outcomes: Outcomes): void {
    for (const [id, runs] of this.#scopes) {
      const under = this.#blocked.get(id)
      let isLeft = false
      for (const run of runs) {
        const outcome = outcomes[run.index]
        if (outcome?.kind === 'waiting') outcomes[run.index] = { ...outcome, under }
        if (outcome?.kind === 'unstarted' || outcome?.kind === 'apart') isLeft = true
        else if (isLeft && isUnclaimed(outcome)) outcomes[run.index] = { kind: 'unstarted', unclaimed: true }
      }
    }
  }
}

function holdsUp<Tx>({ handler }: Run<Tx>, outcome: RunOutcome | undefined): boolean {
  if (outcome?.kind !== 'failed') return false
  return outcome.verdict.state === 'waiting' || handler.ordered?.whenDead === 'block'
}

/** What was parked before is the first of its key, or it would not be due. */
function hasItsPlace<Tx>(run: Run<Tx>): boolean {
  return run.owner !== undefined || unclaimedLetter(run) !== undefined
}

/** The key whose order has to be kept for this run, in the form in which every store can keep it. */
export function orderKeyOf<Tx>({ handler, delivery }: Run<Tx>): string | undefined {
  const { key } = delivery.message
  return handler.ordered !== undefined && key !== undefined && key !== null ? fittedText(key) : undefined
}

function scopeId(handler: string, orderKey: string): string {
  return `${handler}\0${orderKey}`
}
