import { hash } from 'node:crypto'
import type { Delivery, StoredParkedMessage } from '../contracts/index.ts'
import { anyJson } from '../encoding/any-text.ts'
import type { BatchResult } from '../engine/batch-result.ts'
import type { Engine } from '../engine/engine.ts'
import type { SuspicionOf } from '../engine/intake/sort-out.ts'
import type { Origin } from '../engine/items.ts'
import { JustonceError } from '../errors/index.ts'
import { type Suspects, suspectsOf } from '../facts/index.ts'
import { Exclusion } from './exclusion.ts'

/** Some of a batch, in its order, that may be handled together. */
export interface Segment {
  readonly deliveries: readonly Delivery[]
  readonly kind: 'fresh' | 'suspect' | 'alone' | 'condemned'
}

interface Debt {
  readonly forgiven: readonly string[]
  readonly cleared: readonly string[]
}

export type Suspicion = Pick<Origin, 'suspect' | 'condemned'>

const none: Suspicion = {}

/** Never fewer: the first two may be the fault of another message. */
const fewestDeaths = 3

/**
 * Finds the messages that kill the process that handles them. First deliveries pay nothing. What was with a process that
 * died is counted before it runs again, at first together with all that were; after a second death each runs with
 * nothing beside it, so that no other is blamed; and after as many deaths as it has attempts it becomes a dead letter
 * without being run.
 */
export class Quarantine<Tx> {
  readonly #engine: Engine<Tx>
  readonly #suspects: Suspects<Tx>
  readonly #exclusion = new Exclusion()
  /** Attempts that others have begun and not ended. Asked once: here it may be tried several times, if the store fails. */
  readonly #before = new WeakMap<Delivery, number>()
  /** By id, the copies that have begun here and not ended. However many they are, this process can die of it once. */
  readonly #begun = new Map<string, Set<Delivery>>()
  /** The answer to their beginning was lost: the store may have counted it. */
  readonly #unsure = new WeakSet<Delivery>()
  /** What the store has yet to be told about suspects that have ended. */
  readonly #debts: Debt[] = []

  constructor(engine: Engine<Tx>) {
    this.#engine = engine
    this.#suspects = suspectsOf(engine.store)
  }

  /** Runs what may be run together with other things of this process. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusion.together(work)
  }

  /** Runs it with nothing beside it: if the process dies now, it is clear of what. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusion.alone(work)
  }

  async segments(deliveries: readonly Delivery[]): Promise<readonly Segment[]> {
    await this.#look(deliveries)
    const segments: { readonly kind: Segment['kind']; readonly deliveries: Delivery[] }[] = []
    for (const delivery of deliveries) {
      const kind = this.#kindOf(delivery)
      const last = segments.at(-1)
      if (last?.kind === kind && kind !== 'alone') last.deliveries.push(delivery)
      else segments.push({ kind, deliveries: [delivery] })
    }
    return segments
  }

  async run<T>({ kind, deliveries }: Segment, work: (suspicionOf: SuspicionOf) => Promise<T>): Promise<T> {
    const begin = async (): Promise<T> => {
      if (kind === 'suspect' || kind === 'alone') await this.#begin(deliveries)
      return await work((delivery) => this.#suspicionOf(delivery))
    }
    return await (kind === 'alone' ? this.alone(begin) : this.together(begin))
  }

  /** The error that makes a dead letter of a message that so many processes have died with. */
  condemn({ type, messageId }: Pick<StoredParkedMessage, 'type' | 'messageId'>, deaths: number): Suspicion {
    if (deaths > 0) this.#engine.events.emit({ kind: 'quarantined', messageId, deaths })
    return deaths < this.#limitOf(type) ? {} : { condemned: died(deaths) }
  }

  /** What is settled has ended otherwise than by a death. What was lost has not even begun: it is somebody else's. */
  async ended({ settled, lost }: Pick<BatchResult, 'settled' | 'lost'>): Promise<void> {
    if (this.#begun.size > 0) {
      const notBegun = this.#end(lost)
      this.#debts.push({ forgiven: notBegun, cleared: this.#end(settled) })
    }
    if (this.#debts.length === 0) return
    try {
      for (let debt = this.#debts[0]; debt !== undefined; debt = this.#debts[0]) {
        await this.#pay(debt)
        this.#debts.shift()
      }
    } catch (error) {
      // The messages are settled all the same; what is left of them in the store is removed with the next ones.
      this.#engine.events.emit({ kind: 'loop-failed', loop: 'suspects', error })
    }
  }

  /** Mostly they were cleared with the effects. Copies, ignored and refused ones had no transaction of their own. */
  async #pay({ forgiven, cleared }: Debt): Promise<void> {
    if (forgiven.length > 0) await this.#suspects.forgive(forgiven)
    if (cleared.length === 0) return
    const counts = await this.#suspects.look(cleared)
    const left = cleared.filter((_, index) => counts[index] !== 0)
    if (left.length > 0) await this.#engine.store.transaction((tx) => this.#suspects.clear(tx, left))
  }

  /** This process ends on purpose before it has come to an end with them. */
  async forgive(deliveries: readonly Delivery[]): Promise<void> {
    const ids = this.#end(deliveries)
    if (ids.length > 0) await this.#suspects.forgive(ids)
  }

  /** Resolves to those of which no copy is left here. */
  #end(deliveries: readonly Delivery[]): string[] {
    const ids: string[] = []
    for (const delivery of deliveries.filter((each) => this.#isWatched(each))) {
      const id = suspectId(delivery)
      const copies = this.#begun.get(id)
      if (copies?.delete(delivery) && copies.size === 0 && this.#begun.delete(id)) ids.push(id)
    }
    return ids
  }

  async #look(deliveries: readonly Delivery[]): Promise<void> {
    const suspects = deliveries.filter((delivery) => this.#isWatched(delivery) && !this.#before.has(delivery))
    if (suspects.length === 0) return
    const ids = [...new Set(suspects.map(suspectId))]
    const counts = await this.#suspects.look(ids)
    for (const delivery of suspects) {
      const id = suspectId(delivery)
      const counted = counts[ids.indexOf(id)] ?? 0
      const begun = Math.max(0, counted - (this.#begun.has(id) ? 1 : 0))
      this.#before.set(delivery, begun)
      if (begun > 0)
        this.#engine.events.emit({ kind: 'quarantined', messageId: delivery.message.id, deaths: begun + 1 })
    }
  }

  /** Counted once: in this process nobody dies between two tries, or two copies. */
  async #begin(deliveries: readonly Delivery[]): Promise<void> {
    const fresh = new Map<string, Delivery>()
    for (const delivery of deliveries) {
      const id = suspectId(delivery)
      const copies = this.#begun.get(id)
      copies?.add(delivery)
      if (copies !== undefined) continue
      this.#begun.set(id, new Set([delivery]))
      fresh.set(id, delivery)
    }
    if (fresh.size === 0) return
    try {
      const uncounted = await this.#uncounted(fresh)
      if (uncounted.length > 0) await this.#suspects.begin(uncounted)
    } catch (error) {
      for (const [id, delivery] of fresh) {
        this.#begun.delete(id)
        this.#unsure.add(delivery)
      }
      throw error
    }
  }

  /** Without those that an earlier try has counted, although its answer was lost. */
  async #uncounted(fresh: ReadonlyMap<string, Delivery>): Promise<readonly string[]> {
    const ids = [...fresh.keys()]
    const unsure = [...fresh].filter(([, delivery]) => this.#unsure.has(delivery))
    if (unsure.length === 0) return ids
    const counts = await this.#suspects.look(unsure.map(([id]) => id))
    const counted = new Set(
      unsure.flatMap(([id, delivery], index) => ((counts[index] ?? 0) > (this.#before.get(delivery) ?? 0) ? id : [])),
    )
    return ids.filter((id) => !counted.has(id))
  }

  /** What reaches no handler kills nobody. */
  #isWatched(delivery: Delivery): boolean {
    return isSuspect(delivery) && this.#engine.handlersOf(delivery.message.type ?? '').length > 0
  }

  #kindOf(delivery: Delivery): Segment['kind'] {
    const before = this.#before.get(delivery)
    if (before === undefined) return 'fresh'
    if (before + 1 >= this.#limitOf(delivery.message.type)) return 'condemned'
    return before > 0 ? 'alone' : 'suspect'
  }

  #suspicionOf(delivery: Delivery): Suspicion {
    const before = this.#before.get(delivery)
    if (before === undefined) return none
    const suspect = suspectId(delivery)
    return this.#kindOf(delivery) === 'condemned' ? { suspect, condemned: died(before + 1) } : { suspect }
  }

  #limitOf(type: string | undefined): number {
    const attempts = this.#engine.handlersOf(type ?? '').map(({ retry }) => retry.attempts)
    return Math.max(fewestDeaths, ...attempts)
  }
}

function died(deaths: number): JustonceError {
  const message = `It was being handled when ${deaths} processes died.`
  return new JustonceError('PROCESS_DIED', { message, details: { deaths } })
}

function isSuspect({ redelivered, count }: Delivery): boolean {
  return redelivered === true || (count ?? 1) > 1
}

function suspectId({ message: { id, type, source, body } }: Delivery): string {
  const name = anyJson([source, type, id])
  return hash('sha256', id === undefined ? Buffer.concat([Buffer.from(name), body]) : name, 'hex')
}
