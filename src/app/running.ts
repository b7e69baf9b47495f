import { Consumer, type ConsumerOptions } from '../consumer/consumer.ts'
import { Retrier } from '../consumer/retrier.ts'
import { StoreGate } from '../consumer/store-gate.ts'
import type { Delivery, InsideTransaction, Store, Transport } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Source } from '../engine/source.ts'
import { Relay } from '../outgoing/relay.ts'

export interface RunningOptions {
  readonly transports: readonly Transport[]
  readonly consumer: ConsumerOptions
  readonly pollMs: number
}

/** The loops of a started app. */
export class Running {
  readonly #consumers: readonly Consumer<unknown>[]
  readonly #retrier: Retrier<unknown>
  readonly #relay: Relay | undefined
  readonly #transports: readonly Transport[]

  constructor(engine: Engine<unknown>, options: RunningOptions) {
    const { store, clock, events } = engine
    this.#transports = options.transports
    const gate = new StoreGate(store, clock, events)
    const [first] = options.transports as [Transport]
    this.#consumers = options.transports.map(
      (transport) => new Consumer(engine, transport, sourceOf(engine, transport, first), gate, options.consumer),
    )
    this.#retrier = new Retrier(engine, sourceOf(engine, first, first), gate, options.pollMs)
    // A transport inside the database takes outgoing messages in the transaction itself and needs no relay.
    if (store.outbox !== undefined && insideOf(store, first) === undefined) {
      this.#relay = new Relay(store.outbox, first, clock, events, {
        batch: 100,
        leaseMs: 30_000,
        pollMs: options.pollMs,
        attempts: 10,
      })
    }
  }

  start(): void {
    for (const consumer of this.#consumers) consumer.start()
    this.#retrier.start()
    this.#relay?.start()
  }

  wakeRelay(): void {
    this.#relay?.wake()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#consumers.map((consumer) => consumer.stop()), this.#retrier.stop()])
    await this.#relay?.stop()
    await Promise.all(this.#transports.map((transport) => transport.close()))
  }
}

export function insideOf(store: Store, transport: Transport): InsideTransaction | undefined {
  return transport.inside?.store === store ? transport.inside : undefined
}

/** Whatever a message came from, what its handlers publish goes to the first transport. */
function sourceOf(engine: Engine<unknown>, transport: Transport, first: Transport): Source {
  return {
    inside: insideOf(engine.store, transport),
    outlet: insideOf(engine.store, first),
    async acknowledge(deliveries: readonly Delivery[]) {
      try {
        await transport.settle(deliveries, { kind: 'done' })
      } catch (error) {
        // They are committed: if they come again they are duplicates.
        engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
      }
    },
  }
}
