import type { IncomingMessage, OutgoingMessage } from '../../../src/contracts/index.ts'
import type { Scheduler } from '../scheduler.ts'

export interface Queued {
  readonly message: IncomingMessage
  deliveries: number
}

/** One consumer's connection, as the broker sees it. */
export interface BrokerSession {
  readonly prefetch: number
  readonly unsettled: Set<Queued>
  deliver(queued: Queued): void
  lose(why: string): void
}

/** A broker that delivers at least once: whatever is not acknowledged when a connection ends comes again, to anyone, in any order. */
export class SimBroker {
  readonly scheduler: Scheduler
  /** Messages that the application published, by id: how often each arrived. */
  readonly published = new Map<string, { count: number; readonly message: OutgoingMessage }>()
  readonly #ready: Queued[] = []
  readonly #sessions = new Set<BrokerSession>()
  readonly #order: 'keep' | 'shuffle'
  readonly #deliveryLimit: number
  released = 0
  #down = false

  constructor(scheduler: Scheduler, order: 'keep' | 'shuffle', deliveryLimit = Number.POSITIVE_INFINITY) {
    this.scheduler = scheduler
    this.#order = order
    this.#deliveryLimit = deliveryLimit
  }

  get isEmpty(): boolean {
    return this.#ready.length === 0 && [...this.#sessions].every(({ unsettled }) => unsettled.size === 0)
  }

  get isDown(): boolean {
    return this.#down
  }

  send(message: IncomingMessage): void {
    this.#ready.push({ message, deliveries: 0 })
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
    if (this.#order === 'keep') this.#ready.unshift(queued)
    else this.#ready.splice(this.scheduler.random.below(this.#ready.length + 1), 0, queued)
  }

  #pump(): void {
    for (;;) {
      const open = [...this.#sessions].filter(({ unsettled, prefetch }) => unsettled.size < prefetch)
      const session = open[this.scheduler.random.below(open.length)]
      const queued = session === undefined ? undefined : this.#ready.shift()
      if (session === undefined || queued === undefined) return
      queued.deliveries++
      session.unsettled.add(queued)
      session.deliver(queued)
    }
  }
}
