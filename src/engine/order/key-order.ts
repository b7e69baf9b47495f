import type { OrderScope } from '../../contracts/index.ts'
import { fittedText } from '../../encoding/fit-text.ts'
import type { Engine } from '../engine.ts'
import { isGoodEnd, isUnclaimed, type Outcomes, type Run, type RunOutcome, unclaimedLetter } from '../items.ts'
import type { BlockedKeys } from './blocked-keys.ts'

/** The order of the messages of one key, for handlers that keep it: which messages must wait behind another. */
export class KeyOrder<Tx> {
  /** The runs of this batch in each scope, in the order of their calls. */
  readonly #scopes = new Map<string, Run<Tx>[]>()
  /** The same for runs that come from parked rows. */
  readonly #placed = new Map<string, Run<Tx>[]>()
  /** Scopes that already have a parked message, with the handler name that it is parked under. */
  readonly #blocked = new Map<string, string>()
  readonly #keys: Pick<BlockedKeys, 'tooManyBehind'>

  private constructor(keys: Pick<BlockedKeys, 'tooManyBehind'>) {
    this.#keys = keys
  }

  /** Locks the scopes of a batch: until the batch ends, no other transaction runs or parks a message in them. */
  static lock<Tx>(engine: Engine<Tx>, tx: Tx, runs: readonly Run<Tx>[]): Order<Tx> | Promise<Order<Tx>> {
    const isKept = runs.some((run) => orderKeyOf(run) !== undefined)
    return isKept ? KeyOrder.#locked(engine, tx, runs) : noOrder
  }

  static async #locked<Tx>(engine: Engine<Tx>, tx: Tx, runs: readonly Run<Tx>[]): Promise<KeyOrder<Tx>> {
    const order = new KeyOrder<Tx>(engine.blockedKeys)
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
    // Sorted, so that two batches cannot deadlock on each other's keys.
    const sorted = [...scopes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, scope]) => scope)
    const answers = await engine.store.parking.blocked(tx, sorted)
    sorted.forEach(({ handler, orderKey }, index) => {
      const current = engine.handlerNamed(handler)?.name ?? handler
      const id = scopeId(current, orderKey)
      if (answers[index] && (handler === current || !this.#blocked.has(id))) this.#blocked.set(id, handler)
    })
  }

  /** The outcome of a run because of the messages before it; `undefined` if there are none. */
  hindrance(run: Run<Tx>, outcomes: Outcomes): RunOutcome | undefined {
    const orderKey = orderKeyOf(run)
    if (orderKey === undefined) return undefined
    const id = scopeId(run.handler.name, orderKey)
    if (hasItsPlace(run)) return this.#behindTheRow(run, id, outcomes)
    let waits = this.#blocked.has(id)
    for (const other of this.#scopes.get(id) ?? []) {
      if (other.index === run.index) break
      const outcome = outcomes[other.index]
      // If this one were parked before one that is left for later, it would overtake it, whatever else is ahead of both.
      if (outcome?.kind === 'unstarted') return outcome
      if (outcome?.kind === 'apart') return { kind: 'unstarted' }
      if (outcome?.kind === 'waiting' || holdsUp(other, outcome)) waits = true
    }
    if (!waits) return undefined
    return this.#keys.tooManyBehind(run.handler.name, orderKey) ?? { kind: 'waiting', behind: 'message' }
  }

  /** Rows of one key are taken in order: if one stays, the rows behind it stay too. */
  #behindTheRow(run: Run<Tx>, id: string, outcomes: Outcomes): RunOutcome | undefined {
    for (const other of this.#placed.get(id) ?? []) {
      if (other.index === run.index) return undefined
      const outcome = outcomes[other.index]
      if (outcome !== undefined && !isGoodEnd(outcome)) return { kind: 'unstarted' }
    }
    return undefined
  }

  /**
   * A message that would be parked without a claim must not get ahead of one of its key that is left for later. A message
   * that waits behind rows of a former handler name waits under that name, because rows of one name are taken in order.
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

/** What a batch needs to know of the order of its keys. */
export type Order<Tx> = Pick<KeyOrder<Tx>, 'hindrance' | 'keepBehind'>

/** For runs whose handlers keep no order. */
export const noOrder = { hindrance: (): undefined => undefined, keepBehind: (): void => {} }

function holdsUp<Tx>({ handler }: Run<Tx>, outcome: RunOutcome | undefined): boolean {
  if (outcome?.kind !== 'failed') return false
  return outcome.verdict.state === 'waiting' || handler.ordered?.whenDead === 'block'
}

/** A message that was already parked is the first of its key; otherwise it would not be due. */
function hasItsPlace<Tx>(run: Run<Tx>): boolean {
  return run.owner !== undefined || unclaimedLetter(run) !== undefined
}

/** The key whose order must be kept for this run, in a form that every store can keep. */
export function orderKeyOf<Tx>({ handler, delivery }: Run<Tx>): string | undefined {
  const { key } = delivery.message
  return handler.ordered !== undefined && key !== undefined && key !== null ? fittedText(key) : undefined
}

function scopeId(handler: string, orderKey: string): string {
  return `${handler}\0${orderKey}`
}
