import type { Tally } from '../contracts/index.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { effectOf, isIntent } from '../encoding/intent-name.ts'
import { isDelayed } from '../encoding/outgoing-queue.ts'
import type { Engine } from '../engine/engine.ts'
import { abandonLetters } from '../engine/retries/abandon-letters.ts'
import { wantedHere } from '../engine/retries/wanted.ts'
import { JustonceError } from '../errors/index.ts'
import { leasesOf } from '../facts/index.ts'
import { ReportNowAndThen } from './report-now-and-then.ts'

/** Messages of one type that wait for one handler. */
type WaitingMessages = Tally<'handler' | 'type'>

/** A process that has a handler for which messages wait announces it for this long, at every look. */
const knownForMs = 180_000
/** How long a handler may go unannounced. In a rolling deploy, old and new processes take turns. */
const graceMs = 300_000
/** By then every process has looked once and announced its handlers. */
const everybodyHasLookedMs = 90_000

/**
 * Finds messages that wait for a handler that a deploy has removed or that never existed. Nothing else would ever touch
 * them, and later handlers of their message would wait forever. Intents that wait for such an effect are only reported: giving them
 * up is for a person to decide.
 * A process cannot know which handlers other processes have, so each announces its own: a process that has the handler
 * holds a lease named after the handler and its type.
 */
export class UnknownHandlers<Tx> {
  readonly #engine: Engine<Tx>
  readonly #fences = new Map<string, number>()
  /** Since when no process has announced them. */
  readonly #unknownSince = new Map<string, number>()
  readonly #report: ReportNowAndThen
  readonly #reportEffects: ReportNowAndThen
  /** Names that were reported because another app has them too. */
  readonly #shared = new Set<string>()

  constructor(engine: Engine<Tx>) {
    this.#engine = engine
    this.#report = new ReportNowAndThen(engine.clock)
    this.#reportEffects = new ReportNowAndThen(engine.clock)
  }

  async look(signal: AbortSignal): Promise<void> {
    const unknown = new Map<string, WaitingMessages>()
    const { parking } = this.#engine.store
    for (const messages of await parking.tally({ kind: 'any', state: 'waiting' }, ['handler', 'type'])) {
      if (isDelayed(messages.handler)) continue
      if (this.#isKnownHere(messages)) await this.#sayKnown(nameOf(messages))
      else if (await this.#isKnownToNobody(nameOf(messages))) unknown.set(nameOf(messages), messages)
      else this.#reportShared(messages)
    }
    for (const name of this.#unknownSince.keys()) if (!unknown.has(name)) this.#unknownSince.delete(name)
    const now = this.#engine.clock.monotonicMs()
    const forMs = (name: string): number => now - (this.#unknownSince.get(name) ?? now)
    for (const name of unknown.keys()) this.#unknownSince.set(name, now - forMs(name))
    const abandoned = [...unknown].filter(([name]) => forMs(name) >= everybodyHasLookedMs)
    const handlers = new Map(
      abandoned.flatMap(([name, { handler, count }]) => (isIntent(handler) ? [] : [[name, count]])),
    )
    if (this.#report.isDue(handlers))
      this.#engine.events.emit({ kind: 'handlers-unknown', waiting: Object.fromEntries(handlers) })
    const effects = new Map(
      abandoned.flatMap(([, { handler, count }]) => (isIntent(handler) ? [[effectOf(handler), count]] : [])),
    )
    if (this.#reportEffects.isDue(effects))
      this.#engine.events.emit({ kind: 'effects-unknown', waiting: Object.fromEntries(effects) })
    for (const [name, messages] of unknown)
      if (forMs(name) >= graceMs && !isIntent(messages.handler)) await this.#abandon(messages, signal)
  }

  #isKnownHere(messages: WaitingMessages): boolean {
    if (isIntent(messages.handler)) return this.#engine.effects.isRunHere(effectOf(messages.handler))
    return wantedHere(this.#engine).some(
      ({ handler, type = messages.type }) => handler === messages.handler && type === messages.type,
    )
  }

  /** Another app has a handler of this name. Nothing is taken from it, but the two apps share their records. */
  #reportShared({ handler, type }: WaitingMessages): void {
    const own = this.#engine.handlerNamed(handler)
    if (own === undefined || this.#shared.has(handler)) return
    this.#shared.add(handler)
    const message = `The handler ${handler} takes messages of type ${own.type} here, and of type ${type} in another app on this database.`
    const { code, message: said } = new JustonceError('HANDLER_NAME_SHARED', { message })
    this.#engine.events.emit({ kind: 'warning', code, message: said })
  }

  async #sayKnown(name: string): Promise<void> {
    const leases = leasesOf(this.#engine.store, 'duty')
    const fence = this.#fences.get(name)
    if (fence !== undefined && (await leases.renew(leaseOf(name), fence, knownForMs))) return
    const lease = await leases.acquire(leaseOf(name), knownForMs)
    if (lease === undefined) this.#fences.delete(name)
    else this.#fences.set(name, lease.fence)
  }

  /**
   * The lease can be acquired only if no process holds it. It is released again, for any process that starts with the
   * handler.
   */
  async #isKnownToNobody(name: string): Promise<boolean> {
    const leases = leasesOf(this.#engine.store, 'duty')
    const lease = await leases.acquire(leaseOf(name), 1_000)
    if (lease === undefined) return false
    await leases.release(leaseOf(name), lease.fence)
    return true
  }

  /** Holds the lease meanwhile: a process that starts with the handler now can announce it only afterwards. */
  async #abandon(messages: WaitingMessages, signal: AbortSignal): Promise<void> {
    const leases = leasesOf(this.#engine.store, 'duty')
    const name = leaseOf(nameOf(messages))
    const lease = await leases.acquire(name, 60_000)
    if (lease === undefined) return
    try {
      await abandonLetters(this.#engine, messages, signal)
    } finally {
      await leases.release(name, lease.fence).catch(() => {})
    }
  }
}

function nameOf({ handler, type }: WaitingMessages): string {
  return `${handler} (${type})`
}

function leaseOf(name: string): string {
  return fittedText(`handler ${name}`)
}
