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

/** Some deliveries of a batch, in order, that may be handled together. */
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

/** Never fewer: another message may have caused the first two deaths. */
const fewestDeaths = 3

/**
 * Detects the messages that kill the process that handles them. First deliveries pay nothing. A message that was in a
 * process that died is counted before it runs again, at first together with all the others from that process. After a
 * second death each runs alone, so that no other message is blamed. After as many deaths as it has attempts, it becomes
 * a dead letter without being run.
 */
export class Quarantine<Tx> {
  readonly #engine: Engine<Tx>
  readonly #suspects: Suspects<Tx>
  readonly #exclusion = new Exclusion()
  /**
   * Attempts that other processes have begun and not ended. Read once, because a message may be tried several times here
   * if the store fails.
   */
  readonly #before = new WeakMap<Delivery, number>()
  /** By id, the copies that have begun here and not ended. However many there are, this process can die of them only once. */
  readonly #begun = new Map<string, Set<Delivery>>()
  /** The answer to their `begin` was lost: the store may have counted it. */
  readonly #unsure = new WeakSet<Delivery>()
  /** Updates about ended suspects that the store has not received yet. */
  readonly #debts: Debt[] = []

  constructor(engine: Engine<Tx>) {
    this.#engine = engine
    this.#suspects = suspectsOf(engine.store)
  }

  /** Runs work that may run alongside other work of this process. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusion.together(work)
  }

  /** Runs work with nothing alongside it: if the process dies now, the cause is clear. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusion.alone(work)
  }

  async segments(deliveries: readonly Delivery[]): Promise<readonly Segment[]> {
    const suspects = deliveries.filter((delivery) => this.#isWatched(delivery) && !this.#before.has(delivery))
    if (suspects.length > 0) await this.#look(suspects)
    const segments: { readonly kind: Segment['kind']; readonly deliveries: Delivery[] }[] = []
    for (const delivery of deliveries) {
      const kind = this.#kindOf(delivery)
      const last = segments.at(-1)
      if (last?.kind === kind && kind !== 'alone') last.deliveries.push(delivery)
      else segments.push({ kind, deliveries: [delivery] })
    }
    return segments
  }

  run<T>({ kind, deliveries }: Segment, work: (suspicionOf: SuspicionOf) => Promise<T>): Promise<T> {
    const handle = (): Promise<T> => work((delivery) => this.#suspicionOf(delivery))
    if (kind === 'fresh' || kind === 'condemned') return this.together(handle)
    const begin = async (): Promise<T> => {
      await this.#begin(deliveries)
      return await handle()
    }
    return kind === 'alone' ? this.alone(begin) : this.together(begin)
  }

  /** The error that turns a message into a dead letter after this many processes have died with it. */
  condemn({ type, messageId }: Pick<StoredParkedMessage, 'type' | 'messageId'>, deaths: number): Suspicion {
    if (deaths > 0) this.#engine.events.emit({ kind: 'quarantined', messageId, deaths })
    return deaths < this.#limitOf(type) ? {} : { condemned: died(deaths) }
  }

  /** A settled message has ended other than by a death. A lost one has not even begun: another process has it. */
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
      // The messages are settled anyway; what is left of them in the store is removed with the next ones.
      this.#engine.events.emit({ kind: 'loop-failed', loop: 'suspects', error })
    }
  }

  /**
   * Usually they were cleared in the transaction of the effects. Copies and ignored or refused messages had no
   * transaction of their own.
   */
  async #pay({ forgiven, cleared }: Debt): Promise<void> {
    if (forgiven.length > 0) await this.#suspects.forgive(forgiven)
    if (cleared.length === 0) return
    const counts = await this.#suspects.look(cleared)
    const left = cleared.filter((_, index) => counts[index] !== 0)
    if (left.length > 0) await this.#engine.store.transaction((tx) => this.#suspects.clear(tx, left))
  }

  /** For deliveries that this process will not finish, although it has not crashed. */
  async forgive(deliveries: readonly Delivery[]): Promise<void> {
    const ids = this.#end(deliveries)
    if (ids.length > 0) await this.#suspects.forgive(ids)
  }

  /** Returns the ids of which no copy is left here. */
  #end(deliveries: readonly Delivery[]): string[] {
    const ids: string[] = []
    for (const delivery of deliveries.filter((each) => this.#isWatched(each))) {
      const id = suspectId(delivery)
      const copies = this.#begun.get(id)
      if (copies?.delete(delivery) && copies.size === 0 && this.#begun.delete(id)) ids.push(id)
    }
    return ids
  }

  async #look(suspects: readonly Delivery[]): Promise<void> {
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

  /** Counted once: between two tries, or two copies, this process has not died. */
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

  /** The ids without those that an earlier try has counted, although its answer was lost. */
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

  /** A message that reaches no handler cannot kill a process. */
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
