import type { IncomingMessage, OutgoingMessage } from '../../../src/contracts/index.ts'
import type { Scheduler } from '../scheduler.ts'
import { firstInOrder } from './key-order.ts'

export interface Queued {
  readonly message: IncomingMessage
  readonly sequence: number
  deliveries: number
}

/** One consumer's connection, as the broker sees it. */
export interface BrokerSession {
  readonly prefetch: number
  readonly unsettled: Set<Queued>
  deliver(queued: Queued): void
  lose(why: string): void
}

/**
 * A broker that delivers at least once: whatever is not acknowledged when a connection ends comes again, to anyone.
 * With `shuffle` in any order; with `keep` in the order of its key: nothing of a key is delivered while an earlier one is
 * with another connection or waits for its delay.
 */
export class SimBroker {
  readonly scheduler: Scheduler
  readonly order: 'keep' | 'shuffle'
  /** Messages that the application published, by id: how often each arrived. */
  readonly published = new Map<string, { count: number; readonly message: OutgoingMessage }>()
  readonly #ready: Queued[] = []
  readonly #firstSent = new Map<string, number>()
  readonly #sessions = new Set<BrokerSession>()
  readonly #deliveryLimit: number
  released = 0
  #sequence = 0
  #down = false

  constructor(
    scheduler: Scheduler,
    order: 'keep' | 'shuffle' = 'shuffle',
    deliveryLimit: number = Number.POSITIVE_INFINITY,
  ) {
    this.scheduler = scheduler
    this.order = order
    this.#deliveryLimit = deliveryLimit
  }

  get isEmpty(): boolean {
    if (this.#ready.length > 0) return false
    return [...this.#sessions].every(({ unsettled }) => unsettled.size === 0)
  }

  get isDown(): boolean {
    return this.#down
  }

  /** The place of a message among all that were sent, by its first copy. */
  firstSent(id: string): number {
    return this.#firstSent.get(id) ?? Number.NaN
  }

  send(message: IncomingMessage): void {
    if (message.id !== undefined && !this.#firstSent.has(message.id)) this.#firstSent.set(message.id, this.#sequence)
    this.#ready.push({ message, sequence: this.#sequence++, deliveries: 0 })
    this.#pump()
  }

  connect(session: BrokerSession): void {
    this.#sessions.add(session)
    this.#pump()
  }

  acknowledge(session: BrokerSession, settled: readonly Queued[]): void {
    for (const queued of settled) session.unsettled.delete(queued)
    this.#pump()
  }

  giveBack(session: BrokerSession, settled: readonly Queued[]): void {
    this.released += settled.length
    for (const queued of settled) if (session.unsettled.delete(queued)) this.#requeue(queued)
    this.#pump()
  }

  disconnect(session: BrokerSession): void {
    if (!this.#sessions.delete(session)) return
    for (const queued of session.unsettled) this.#requeue(queued)
    session.unsettled.clear()
    this.#pump()
  }

  restart(downMs: number): void {
    if (this.#down) return
    this.scheduler.note('broker', `RESTARTS, down for ${downMs} ms`)
    this.#down = true
    for (const session of [...this.#sessions]) session.lose('broker restarts')
    this.scheduler.after(downMs, () => {
      this.#down = false
      this.scheduler.note('broker', 'IS BACK')
    })
  }

  #requeue(queued: Queued): void {
    if (queued.deliveries >= this.#deliveryLimit) {
      this.scheduler.note('broker', `DROPS ${queued.message.id}: delivered ${queued.deliveries} times`)
      return
    }
    if (this.order === 'shuffle') {
      this.#ready.splice(this.scheduler.random.below(this.#ready.length + 1), 0, queued)
      return
    }
    const later = this.#ready.findIndex(({ sequence }) => sequence > queued.sequence)
    this.#ready.splice(later === -1 ? this.#ready.length : later, 0, queued)
  }

  #pump(): void {
    for (;;) {
      const open = [...this.#sessions].filter(
        (session) => session.unsettled.size < session.prefetch && this.#nextFor(session) !== undefined,
      )
      const session = open[this.scheduler.random.below(open.length)]
      const queued = session === undefined ? undefined : this.#nextFor(session)
      if (session === undefined || queued === undefined) return
      this.#ready.splice(this.#ready.indexOf(queued), 1)
      queued.deliveries++
      session.unsettled.add(queued)
      session.deliver(queued)
    }
  }

  #nextFor(session: BrokerSession): Queued | undefined {
    if (this.order === 'shuffle') return this.#ready[0]
    const elsewhere = [...this.#sessions].filter((other) => other !== session).flatMap((other) => [...other.unsettled])
    return firstInOrder(this.#ready, elsewhere)
  }
}
