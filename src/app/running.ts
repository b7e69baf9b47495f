import { Consumer, type ConsumerOptions } from '../consumer/consumer.ts'
import { housekeeper } from '../consumer/housekeeper.ts'
import { Quarantine } from '../consumer/quarantine.ts'
import { Retrier } from '../consumer/retrier.ts'
import type { Clock, Delivery, InsideTransaction, Settlement, Store, Transport } from '../contracts/index.ts'
import type { Engine, LoopToWake } from '../engine/engine.ts'
import type { Source } from '../engine/source.ts'
import { operableEngine, redriver } from '../letters/index.ts'
import type { Loop } from '../loops/loop.ts'
import { StoreGate } from '../loops/store-gate.ts'
import { type MaintainerOptions, maintainer } from '../maintenance/maintainer.ts'
import { relay } from '../outgoing/relay.ts'
import { Deadline } from './deadline.ts'
import { limitsFor } from './in-flight-options.ts'

export interface RunningOptions {
  readonly transports: readonly Transport[]
  readonly consumer: ConsumerOptions
  readonly pollMs: number
  readonly maintenance: MaintainerOptions
}

/** How long hooks that are running when an app is stopped are waited for. */
const hooksEndWithinMs = 5_000

/** The loops of a started app. */
export class Running {
  readonly #consumers: readonly Consumer<unknown>[]
  readonly #retrier: Retrier<unknown>
  readonly #housekeeper: Loop
  readonly #redriver: Loop | undefined
  readonly #relay: Loop | undefined
  readonly #maintainer: Loop | undefined
  readonly #transports: readonly Transport[]
  readonly #engine: Engine<unknown>

  constructor(engine: Engine<unknown>, options: RunningOptions) {
    const { store, clock, events } = engine
    this.#engine = engine
    this.#transports = options.transports
    const shared = { gate: new StoreGate(store, clock, events), quarantine: new Quarantine(engine) }
    const [first] = options.transports as [Transport]
    this.#consumers = options.transports.map(
      (transport) =>
        new Consumer(engine, transport, sourceOf(engine, transport, first), shared, {
          ...options.consumer,
          inFlight: limitsFor(transport, options.consumer.inFlight),
        }),
    )
    this.#retrier = new Retrier(engine, retrySource(engine, first), shared, {
      pollMs: options.pollMs,
      batch: Math.min(options.consumer.batch.max, 200),
      concurrency: retriesAtOnce(store, options),
    })
    this.#housekeeper = housekeeper(engine, shared.gate)
    if (store.redrives !== undefined)
      this.#redriver = redriver(operableEngine(engine), shared.gate, { pollMs: options.pollMs })
    const { retention } = store
    if (retention !== undefined)
      this.#maintainer = maintainer({ ...store, retention }, { clock, events }, options.maintenance)
    // A transport inside the database takes outgoing messages in the transaction itself and needs no relay.
    if (store.outbox !== undefined && insideOf(store, first) === undefined) {
      this.#relay = relay(
        { outbox: store.outbox, transport: first, clock, events },
        { batch: 100, leaseMs: 30_000, pollMs: options.pollMs, attempts: 10 },
      )
    }
  }

  start(): void {
    for (const consumer of this.#consumers) consumer.start()
    this.#retrier.start()
    this.#housekeeper.start()
    this.#redriver?.start()
    this.#relay?.start()
    this.#maintainer?.start()
  }

  /** Whoever has made work for one of the loops says so, instead of leaving it to the next poll. */
  wake(loop: LoopToWake): void {
    const loops = { relay: this.#relay, retries: this.#retrier, redrives: this.#redriver }
    loops[loop]?.wake()
  }

  /** Resolves to what has not ended in time. */
  async stop(withinMs: number): Promise<readonly string[]> {
    const { clock } = this.#engine
    // Some of the time is kept for saying good-bye to brokers: that gives back what is not settled.
    const finishing = new Deadline(clock, withinMs * 0.8)
    const closing = new Deadline(clock, withinMs)
    try {
      await Promise.all([
        ...this.#consumers.map((consumer, index) =>
          finishing.wait(`messages of ${this.#transports[index]?.name}`, consumer.stop()),
        ),
        finishing.wait('retries', this.#retrier.stop()),
        finishing.wait('housekeeping', this.#housekeeper.stop()),
        finishing.wait('redrives', this.#redriver?.stop()),
        finishing.wait('maintenance', this.#maintainer?.stop()),
      ])
      await finishing.wait('hooks', this.#engine.hooks.end(hooksEndWithinMs))
      await finishing.wait('outgoing messages', this.#relay?.stop())
      await Promise.all(this.#transports.map((each) => closing.wait(`connection of ${each.name}`, each.close())))
      return [...finishing.unfinished, ...closing.unfinished]
    } finally {
      finishing.end()
      closing.end()
    }
  }
}

/** For an app that was never started. Resolves to what has not ended in time. */
export async function closeTransports(
  transports: readonly Transport[],
  clock: Clock,
  withinMs: number,
): Promise<readonly string[]> {
  const deadline = new Deadline(clock, withinMs)
  try {
    await Promise.all(transports.map((each) => deadline.wait(`connection of ${each.name}`, each.close())))
    return deadline.unfinished
  } finally {
    deadline.end()
  }
}

/** As many as messages that come from a transport, where there are connections left for that. */
function retriesAtOnce({ capabilities }: Store, { consumer, transports }: RunningOptions): number {
  const left = capabilities.connections - consumer.concurrency * transports.length
  return Math.max(1, Math.min(consumer.concurrency, left))
}

export function insideOf(store: Store, transport: Transport): InsideTransaction | undefined {
  return transport.inside?.store === store ? transport.inside : undefined
}

/** Whatever a message came from, what its handlers publish goes to the first transport. */
function sourceOf(engine: Engine<unknown>, transport: Transport, first: Transport): Source {
  const { dedup = 'id', group = transport.name } = transport
  return {
    dedup,
    positions: dedup === 'id' ? undefined : { group, reread: (deliveries) => reread(engine, transport, deliveries) },
    inside: insideOf(engine.store, transport),
    outlet: insideOf(engine.store, first),
    acknowledge: (deliveries) => settle(engine, transport, deliveries, { kind: 'done' }),
  }
}

/** What was parked comes from the store: there is nobody to tell. */
function retrySource(engine: Engine<unknown>, first: Transport): Source {
  return { inside: undefined, outlet: insideOf(engine.store, first), acknowledge: async () => {} }
}

async function reread(engine: Engine<unknown>, transport: Transport, deliveries: readonly Delivery[]): Promise<void> {
  try {
    await transport.reread?.(deliveries)
  } catch (error) {
    engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
  }
}

async function settle(
  engine: Engine<unknown>,
  transport: Transport,
  deliveries: readonly Delivery[],
  settlement: Settlement,
): Promise<void> {
  try {
    await transport.settle(deliveries, settlement)
  } catch (error) {
    // What has committed is a duplicate when it comes again, and what was given back comes again anyway.
    engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
  }
}
