import { Alerter, type AlerterParts } from '../alerts/index.ts'
import { blockedKeysWatch } from '../consumer/blocked-keys-watch.ts'
import { Consumer, type ConsumerOptions } from '../consumer/consumer.ts'
import { housekeeper } from '../consumer/housekeeper.ts'
import { Quarantine } from '../consumer/quarantine.ts'
import { Retrier } from '../consumer/retrier.ts'
import type { Clock, Delivery, Positioned, Publisher, Settlement, Store, Subscriber } from '../contracts/index.ts'
import { callTimerOf } from '../engine/calls/call-timer.ts'
import type { Engine, LoopToWake } from '../engine/engine.ts'
import type { Feed } from '../engine/feed.ts'
import type { Heartbeat } from '../heartbeat/heartbeat.ts'
import type { Effects } from '../intents/effects.ts'
import { IntentWorker } from '../intents/worker.ts'
import { redriver } from '../letters/index.ts'
import type { Loop } from '../loops/loop.ts'
import { StoreGate } from '../loops/store-gate.ts'
import { type MaintainerOptions, maintainer } from '../maintenance/maintainer.ts'
import type { Destinations } from '../outgoing/destinations.ts'
import { Relay } from '../outgoing/relay.ts'
import { Scheduler, type SchedulerParts } from '../schedules/scheduler.ts'
import type { Duty } from './app-options.ts'
import type { Connection } from './await-brokers.ts'
import type { BrokerWatch } from './broker-watch.ts'
import { Deadline } from './deadline.ts'
import { limitsFor } from './in-flight-options.ts'
import { insideOf } from './ways.ts'

export interface RunningOptions {
  readonly duties: readonly Duty[]
  readonly from: readonly Subscriber[]
  /** Everything that must be closed at the end. */
  readonly drivers: readonly (Subscriber | Publisher)[]
  readonly consumer: ConsumerOptions
  readonly pollMs: number
  readonly maintenance: MaintainerOptions
  readonly heartbeat?: Heartbeat | undefined
  readonly brokers?: BrokerWatch | undefined
  readonly alerts?: Omit<AlerterParts, 'gate'> | undefined
  readonly schedules: Pick<SchedulerParts, 'schedules' | 'messageOf'>
}

/** How long to wait for hooks that are running when an app is stopped. */
const hooksEndWithinMs = 5_000

/** A take and a removal cost about the same however many messages they are for; what a killed relay had in hand is sent again. */
const relayBatch = 300

/** The loops of a started app. */
export class Running {
  readonly #consumers: readonly Consumer<unknown>[]
  readonly #retrier: Retrier<unknown> | undefined
  readonly #housekeeper: Loop | undefined
  readonly #blockedKeys: Loop | undefined
  readonly #redriver: Loop | undefined
  readonly #endTimers: (() => void) | undefined
  readonly #relays: readonly Relay[]
  readonly #scheduler: Scheduler | undefined
  readonly #maintainer: Loop | undefined
  readonly #alerter: Alerter | undefined
  readonly #intents: IntentWorker<unknown> | undefined
  readonly #options: RunningOptions
  readonly #engine: Engine<unknown>
  readonly #gate: StoreGate

  constructor(engine: Engine<unknown>, destinations: Destinations, effects: Effects, options: RunningOptions) {
    const { store, clock, events } = engine
    const { duties, from, consumer, pollMs } = options
    this.#engine = engine
    this.#options = options
    this.#gate = new StoreGate(store, clock, events)
    const shared = { gate: this.#gate, quarantine: new Quarantine(engine) }
    this.#consumers = from.map(
      (subscriber) =>
        new Consumer(engine, subscriber, feedOf(engine, subscriber), shared, {
          ...consumer,
          inFlight: limitsFor(subscriber, consumer.inFlight),
        }),
    )
    if (duties.includes('retries')) {
      this.#retrier = new Retrier(engine, nobodyToTell, shared, {
        pollMs,
        batch: Math.min(consumer.batch.max, 200),
        concurrency: retriesAtOnce(store, options),
      })
      this.#endTimers = destinations.movedBy(() => this.#retrier?.wake())
      this.#housekeeper = housekeeper(engine, shared.gate)
      this.#redriver = redriver(engine, shared.gate, { pollMs })
    }
    if ((duties.includes('consumer') || duties.includes('retries')) && keepsOrder(engine))
      this.#blockedKeys = blockedKeysWatch(engine, shared.gate)
    if (duties.includes('intents') && effects.all.length > 0)
      this.#intents = new IntentWorker(engine, effects, shared.gate, { pollMs })
    const { retention, queue } = store
    if (duties.includes('schedules') && options.schedules.schedules.length > 0)
      this.#scheduler = new Scheduler({
        store,
        clock,
        events,
        gate: shared.gate,
        outlet: destinations,
        ...options.schedules,
      })
    if (retention !== undefined && duties.includes('maintenance'))
      this.#maintainer = maintainer({ ...store, retention }, { clock, events, gate: shared.gate }, options.maintenance)
    if (options.alerts !== undefined && duties.includes('maintenance'))
      this.#alerter = new Alerter({ ...options.alerts, gate: shared.gate })
    const relayed = queue === undefined || !duties.includes('relay') ? [] : destinations.relayed
    this.#relays = relayed.map((destination) => {
      const queueing = { ...store, queue: queue as NonNullable<typeof queue> }
      const relayParts = { store: queueing, destination, clock, events, gate: shared.gate }
      const relay = new Relay(relayParts, { batch: relayBatch, leaseMs: 30_000, pollMs, attempts: 10 })
      destinations.relayedBy(destination, () => relay.wake())
      return relay
    })
  }

  start(): void {
    this.#options.heartbeat?.start(this.#gate)
    for (const consumer of this.#consumers) consumer.start()
    this.#options.brokers?.start()
    this.#retrier?.start()
    this.#housekeeper?.start()
    this.#blockedKeys?.start()
    this.#redriver?.start()
    this.#scheduler?.start()
    this.#intents?.start()
    for (const relay of this.#relays) relay.start()
    this.#maintainer?.start()
    this.#alerter?.start()
  }

  get connections(): readonly Connection[] {
    return this.#consumers.map(({ connected }, index) => ({ name: this.#options.from[index]?.name ?? '', connected }))
  }

  /** Called by code that has created work for a loop, so that the loop need not wait for its next poll. */
  wake(loop: LoopToWake): void {
    const loops = {
      relay: this.#relays,
      retries: [this.#retrier],
      redrives: [this.#redriver],
      heartbeat: [this.#options.heartbeat],
      intents: [this.#intents],
    }
    for (const each of loops[loop]) each?.wake()
  }

  /** Resolves to the names of what has not ended in time. */
  async stop(withinMs: number): Promise<readonly string[]> {
    const { clock } = this.#engine
    // Some of the time is reserved for closing the connections to brokers, which gives back what is not settled.
    const finishing = new Deadline(clock, withinMs * 0.8)
    const closing = new Deadline(clock, withinMs)
    this.#endTimers?.()
    try {
      await Promise.all([
        ...this.#consumers.map((consumer, index) =>
          finishing.wait(`messages of ${this.#options.from[index]?.name}`, consumer.stop()),
        ),
        finishing.wait('retries', this.#retrier?.stop()),
        finishing.wait('housekeeping', this.#housekeeper?.stop()),
        finishing.wait('blocked keys', this.#blockedKeys?.stop()),
        finishing.wait('redrives', this.#redriver?.stop()),
        finishing.wait('schedules', this.#scheduler?.stop()),
        finishing.wait('intents', this.#intents?.stop()),
        finishing.wait('maintenance', this.#maintainer?.stop()),
        finishing.wait('alerts', this.#alerter?.stop()),
      ])
      await finishing.wait('hooks', this.#engine.hooks.end(hooksEndWithinMs))
      await finishing.wait('outgoing messages', Promise.all(this.#relays.map((relay) => relay.stop())))
      this.#options.brokers?.stop()
      await Promise.all([
        closeAll(this.#options.drivers, closing),
        // If a handler holds the only connection of the store, that handler is what has not ended.
        closing.wait(undefined, this.#options.heartbeat?.stop()),
      ])
      return [...finishing.unfinished, ...closing.unfinished]
    } finally {
      finishing.end()
      closing.end()
      callTimerOf(clock).rest()
    }
  }
}

/** For an app that was never started. Resolves to the names of what has not ended in time. */
export async function closeDrivers(
  drivers: RunningOptions['drivers'],
  clock: Clock,
  withinMs: number,
): Promise<readonly string[]> {
  const deadline = new Deadline(clock, withinMs)
  try {
    await closeAll(drivers, deadline)
    return deadline.unfinished
  } finally {
    deadline.end()
  }
}

async function closeAll(drivers: RunningOptions['drivers'], deadline: Deadline): Promise<void> {
  const nameOf = (each: Subscriber | Publisher): string => ('name' in each ? each.name : each.destination)
  await Promise.all(drivers.map((each) => deadline.wait(`connection of ${nameOf(each)}`, each.close())))
}

/** As many as batches of one transport, if there are enough connections left. */
function retriesAtOnce({ capabilities }: Store, { consumer, from }: RunningOptions): number {
  const left = capabilities.connections - consumer.concurrency * from.length
  return Math.max(1, Math.min(consumer.concurrency, left))
}

/** Whether messages of some handler may wait behind a dead letter. */
function keepsOrder({ handlerNames, handlerNamed }: Engine<unknown>): boolean {
  return handlerNames.some((name) => handlerNamed(name)?.ordered?.whenDead === 'block')
}

function feedOf(engine: Engine<unknown>, subscriber: Subscriber): Feed {
  const { positions } = subscriber
  const isKept = positions !== undefined && positions.dedup !== 'id'
  return {
    positions: isKept ? { ...positions, reread: (deliveries) => reread(engine, positions, deliveries) } : undefined,
    inside: insideOf(engine.store, subscriber),
    acknowledge: (deliveries) => settle(engine, subscriber, deliveries, { kind: 'done' }),
  }
}

/** Parked messages come from the store, so there is no broker to acknowledge to. */
const nobodyToTell: Feed = { inside: undefined, acknowledge: async () => {} }

async function reread(engine: Engine<unknown>, positions: Positioned, deliveries: readonly Delivery[]): Promise<void> {
  try {
    await positions.reread(deliveries)
  } catch (error) {
    engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
  }
}

async function settle(
  engine: Engine<unknown>,
  subscriber: Subscriber,
  deliveries: readonly Delivery[],
  settlement: Settlement,
): Promise<void> {
  try {
    await subscriber.settle(deliveries, settlement)
  } catch (error) {
    // A committed message is a duplicate when it arrives again, and one that was given back arrives again anyway.
    engine.events.emit({ kind: 'settle-failed', error, deliveries: deliveries.length })
  }
}
