import type { Engine } from '../engine/engine.ts'
import type { AnyToPublish, PublishOptions } from '../engine/handler.ts'
import { checkPublished } from '../engine/publishing/check-published.ts'
import { encodeOutgoing } from '../engine/publishing/outgoing.ts'
import { listOf } from '../engine/publishing/publish-each.ts'
import { traceNow, withTrace } from '../engine/publishing/with-trace.ts'
import { checkOptions } from '../errors/index.ts'
import type { Destinations } from '../outgoing/destinations.ts'

interface ToPublish {
  readonly type: string
  readonly body: unknown
  readonly options: PublishOptions
}

type PublishingNeeds = 'clock' | 'schemaOf' | 'codecOf' | 'traceHeaders' | 'businessIdOf'

/** `publish` and `publishAll` of an app, for code outside of its handlers. */
export class Publishing {
  readonly #engine: Pick<Engine<never>, PublishingNeeds>
  readonly #destinations: Pick<Destinations, 'storeForOthers' | 'storeAlone' | 'send'>

  constructor(
    engine: Pick<Engine<never>, PublishingNeeds>,
    destinations: Pick<Destinations, 'storeForOthers' | 'storeAlone' | 'send'>,
  ) {
    this.#engine = engine
    this.#destinations = destinations
  }

  async one({ tx, ...message }: ToPublish & { readonly tx: unknown }): Promise<string> {
    const [id] = await this.#publish([message], tx)
    return id as string
  }

  async all(messages: readonly AnyToPublish[], given: { readonly tx?: unknown } = {}): Promise<readonly string[]> {
    checkOptions(given, ['tx'], 'publishAll()')
    const split = listOf(messages).map(({ type, body, ...options }) => ({ type, body, options }))
    return await this.#publish(split, given.tx)
  }

  /** All of them are encoded at once and checked before the first is stored or sent. */
  async #publish(messages: readonly ToPublish[], tx: unknown): Promise<readonly string[]> {
    const now = this.#engine.clock.now()
    const trace = traceNow(this.#engine.traceHeaders, undefined)
    const outgoing = messages.map(({ options, ...each }) =>
      encodeOutgoing({
        ...each,
        options: withTrace(options, trace),
        now,
        codec: this.#engine.codecOf(each.type),
        businessIdOf: this.#engine.businessIdOf,
      }),
    )
    for (const message of outgoing) await checkPublished(this.#engine, message)
    if (tx !== undefined) await this.#destinations.storeForOthers(tx, outgoing)
    else {
      // First, because all of them are stored or none, while a broker may take only some of the others.
      const later = outgoing.filter(({ due }) => due !== undefined)
      if (later.length > 0) await this.#destinations.storeAlone(later)
      await this.#destinations.send(outgoing.filter(({ due }) => due === undefined))
    }
    return outgoing.map(({ id }) => id)
  }
}
