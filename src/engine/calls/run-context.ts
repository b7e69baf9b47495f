import type { Events, PublishedMessage } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { EffectDirectory, Engine, Outlet } from '../engine.ts'
import type { CallContext } from '../handler.ts'
import { type NewIntent, newIntent } from '../intending/new-intent.ts'
import { checkPublished } from '../publishing/check-published.ts'
import { encodeOutgoing, type OrdinalIds, type PublishingCause } from '../publishing/outgoing.ts'
import { publishEach } from '../publishing/publish-each.ts'
import { traceNow, withTrace } from '../publishing/with-trace.ts'
import type { TimeLimit } from './time-limit.ts'

/** What publishing and intending need. */
export interface PublishingSite
  extends Pick<Engine<never>, 'clock' | 'schemaOf' | 'codecOf' | 'traceHeaders' | 'businessIdOf'> {
  readonly limits: Pick<Engine<never>['limits'], 'maxBodyBytes'>
  readonly events: Pick<Events, 'emit'>
  readonly outlet: Pick<Outlet<never>, 'check'>
  readonly effects: Pick<EffectDirectory, 'check' | 'announced'>
}

/** The call that publishes. */
export interface PublishingCall extends PublishingCause {
  /** It may really happen twice, and must then publish under the same ids both times. */
  readonly isRepeatable: boolean
}

/** What one call of a handler has produced so far, and the context through which it produces it. */
export class CallProducts {
  readonly outgoing: PublishedMessage[] = []
  readonly afterCommit: (() => unknown)[] = []
  #intents: NewIntent[] | undefined
  readonly #site: PublishingSite
  readonly #call: PublishingCall
  /** The first failed publish, whether or not the handler looked at it: continuing without it would lose a message. */
  failure: { readonly error: unknown } | undefined
  #ids: OrdinalIds | undefined
  #checks: Set<Promise<void>> | undefined
  #isOver = false

  constructor(site: PublishingSite, call: PublishingCall) {
    this.#site = site
    this.#call = call
  }

  /** The context, extended with what belongs to this call. */
  contextFor<Given extends object>(given: Given, time: TimeLimit): Given & CallContext {
    // A caller that does not await this must not crash the process: the error is reported, or fails the handler.
    const noted = <Result>(published: Promise<Result>): Promise<Result> => {
      published.catch((error: unknown) => {
        if (!this.#isOver) this.failure ??= { error }
      })
      return published
    }
    const context = {
      ...given,
      publish: (...message: Parameters<CallContext['publish']>) => noted(this.#publish(...message)),
      publishAll: (...given: Parameters<CallContext['publishAll']>) => noted(this.#publishAll(...given)),
      intend: (...given: Parameters<CallContext['intend']>) => noted(this.#intend(...given)),
      afterCommit: (work: () => unknown) => {
        // Not thrown: the call may come from a bare timer, and throwing there would end the process.
        if (this.#isOver) this.#tellLate('afterCommit()')
        else this.afterCommit.push(work)
      },
      [timeOf]: time,
    }
    return Object.defineProperty(context, 'signal', signal) as typeof context & Pick<CallContext, 'signal'>
  }

  get intents(): readonly NewIntent[] {
    return this.#intents ?? none
  }

  /** Whether published bodies are still being checked. */
  get isChecking(): boolean {
    return this.#checks !== undefined && this.#checks.size > 0
  }

  /** Resolves when all bodies are checked. `failure` is then set if one does not fit. */
  async checked(): Promise<void> {
    await Promise.all(this.#checks ?? [])
  }

  /** From now on, anything that comes through the context is too late. */
  end(): void {
    this.#isOver = true
  }

  async #publishAll(...[messages]: Parameters<CallContext['publishAll']>): Promise<readonly string[]> {
    return await publishEach((...message) => this.#publish(...message), messages)
  }

  async #publish(...[type, body, options]: Parameters<CallContext['publish']>): Promise<string> {
    if (this.#isOver) throw this.#tellLate('publish()')
    this.#site.outlet.check(type)
    const { isRepeatable: weak } = this.#call
    if (weak) this.#ids ??= new Map()
    // Encoded synchronously, so that a body that cannot be encoded fails only this handler.
    const now = this.#site.clock.now()
    const codec = this.#site.codecOf(type)
    const given = withTrace(options, traceNow(this.#site.traceHeaders, this.#call.message?.headers))
    const about = { cause: this.#call, ids: this.#ids, weak, businessIdOf: this.#site.businessIdOf }
    const message = encodeOutgoing({ type, body, options: given, now, codec, ...about })
    const check = checkPublished(this.#site, message)
    // Added synchronously, so that messages keep the order of the calls. If one does not fit, the handler fails and
    // none of them is sent.
    this.outgoing.push(message)
    if (check !== undefined) await this.#during(check)
    return message.id
  }

  async #intend(...[effect, payload, options]: Parameters<CallContext['intend']>): Promise<string> {
    if (this.#isOver) throw this.#tellLate('intend()')
    this.#site.effects.check(effect)
    const { isRepeatable: weak } = this.#call
    if (weak) this.#ids ??= new Map()
    const { maxBodyBytes: maxBytes } = this.#site.limits
    const now = this.#site.clock.now()
    const announced = this.#site.effects.announced(effect)
    const cause = this.#call
    const trace = traceNow(this.#site.traceHeaders, cause.message?.headers)
    const about = { effect, payload, options, announced, trace, businessIdOf: this.#site.businessIdOf }
    const intent = newIntent({ ...about, cause, ids: this.#ids, weak, now, maxBytes })
    this.#intents ??= []
    this.#intents.push(intent)
    return intent.row.key
  }

  #during(check: Promise<void>): Promise<void> {
    const noted: Promise<void> = check
      .catch((error: unknown) => {
        this.failure ??= { error }
      })
      .finally(() => this.#checks?.delete(noted))
    this.#checks ??= new Set()
    this.#checks.add(noted)
    return check
  }

  #tellLate(what: string): JustonceError {
    const { name } = this.#call.handler
    const error = new JustonceError('TX_CLOSED', { message: `Handler ${name} called ${what} after it had settled.` })
    this.#site.events.emit({ kind: 'late-call', handler: name, error })
    return error
  }
}

const none: readonly NewIntent[] = []
const timeOf = Symbol('time')

/** Shared by all calls: creating an object with its own getter costs more than the rest of a call. */
const signal = {
  get(this: { readonly [timeOf]: TimeLimit }) {
    return this[timeOf].signal
  },
  enumerable: true,
}
