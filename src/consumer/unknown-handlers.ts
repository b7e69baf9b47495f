import { unrouted } from '../encoding/unrouted.ts'
import { abandonLetters } from '../engine/abandon-letters.ts'
import type { Engine } from '../engine/engine.ts'
import { ReportNowAndThen } from './report-now-and-then.ts'

/** Whoever knows a handler that messages wait for says so for so long, at every look. */
const knownForMs = 180_000
/** So long nobody may have said so. In a rolling deploy, old and new processes take turns. */
const graceMs = 300_000
/** By then everybody has looked once, and said what they know. */
const everybodyHasLookedMs = 90_000

/**
 * Finds messages that wait for a handler which a deploy has removed. Nobody else would ever touch them, and what comes
 * after them in their message would wait for ever.
 * A process cannot know what others know, so each tells: a lease named after the handler is held by one who has it.
 */
export class UnknownHandlers<Tx> {
  readonly #engine: Engine<Tx>
  readonly #fences = new Map<string, number>()
  /** Since when nobody was seen to know them. */
  readonly #unknownSince = new Map<string, number>()
  readonly #report: ReportNowAndThen

  constructor(engine: Engine<Tx>) {
    this.#engine = engine
    this.#report = new ReportNowAndThen(engine.clock)
  }

  async look(signal: AbortSignal): Promise<void> {
    const waiting = (await this.#engine.store.parking.waiting()).filter(({ handler }) => handler !== unrouted)
    const unknown = new Map<string, number>()
    for (const { handler, count } of waiting) {
      if (this.#isKnownHere(handler)) await this.#sayKnown(handler)
      else if (await this.#isKnownToNobody(handler)) unknown.set(handler, count)
    }
    for (const handler of this.#unknownSince.keys()) if (!unknown.has(handler)) this.#unknownSince.delete(handler)
    const now = this.#engine.clock.monotonicMs()
    const forMs = (handler: string): number => now - (this.#unknownSince.get(handler) ?? now)
    for (const handler of unknown.keys()) this.#unknownSince.set(handler, now - forMs(handler))
    const abandoned = new Map([...unknown].filter(([handler]) => forMs(handler) >= everybodyHasLookedMs))
    if (this.#report.isDue(abandoned))
      this.#engine.events.emit({ kind: 'handlers-unknown', waiting: Object.fromEntries(abandoned) })
    for (const handler of unknown.keys()) if (forMs(handler) >= graceMs) await this.#abandon(handler, signal)
  }

  #isKnownHere(handler: string): boolean {
    return this.#engine.handlerNamed(handler) !== undefined || this.#engine.outlet.queues.includes(handler)
  }

  async #sayKnown(handler: string): Promise<void> {
    const { leases } = this.#engine.store
    const fence = this.#fences.get(handler)
    if (fence !== undefined && (await leases.renew(leaseOf(handler), fence, knownForMs))) return
    const lease = await leases.acquire(leaseOf(handler), knownForMs)
    if (lease === undefined) this.#fences.delete(handler)
    else this.#fences.set(handler, lease.fence)
  }

  /** Only where nobody holds the lease it can be had; it is given back, for whoever comes with the handler. */
  async #isKnownToNobody(handler: string): Promise<boolean> {
    const { leases } = this.#engine.store
    const lease = await leases.acquire(leaseOf(handler), 1_000)
    if (lease === undefined) return false
    await leases.release(leaseOf(handler), lease.fence)
    return true
  }

  /** With the lease held: a process that comes with the handler now says so after it. */
  async #abandon(handler: string, signal: AbortSignal): Promise<void> {
    const { leases } = this.#engine.store
    const lease = await leases.acquire(leaseOf(handler), 60_000)
    if (lease === undefined) return
    try {
      await abandonLetters(this.#engine, handler, signal)
    } finally {
      await leases.release(leaseOf(handler), lease.fence).catch(() => {})
    }
  }
}

function leaseOf(handler: string): string {
  return `handler ${handler}`
}
