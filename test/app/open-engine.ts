import { buildEngine } from '../../src/app/build-engine.ts'
import { decideHandler } from '../../src/app/decide-handler.ts'
import { eventHub } from '../../src/app/event-hub.ts'
import type { HandlerOptions } from '../../src/app/handler-options.ts'
import { Handlers } from '../../src/app/handlers.ts'
import type { Delivery, JustonceEvent, Message, Publisher } from '../../src/contracts/index.ts'
import { unpackOutgoing } from '../../src/encoding/packed-message.ts'
import { handleDeliveries } from '../../src/engine/batch/handle-deliveries.ts'
import type { BatchResult } from '../../src/engine/batch-result.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Feed } from '../../src/engine/feed.ts'
import type { RunContext } from '../../src/engine/handler.ts'
import { reserveDue, retryMessages } from '../../src/engine/retries/retry-due.ts'
import type { AppOptions } from '../../src/index.ts'
import { Destinations } from '../../src/outgoing/destinations.ts'
import { MemoryDatabase, type MemoryStore, type MemoryTx, memoryStore } from '../../src/stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { type MessageToSend, toIncoming } from '../../src/transports/memory/message-to-send.ts'

type Call = (message: Message, context: RunContext<MemoryTx>) => unknown
type BatchCall = (messages: readonly Message[], context: RunContext<MemoryTx>) => unknown

export interface OpenEngineOptions extends Partial<AppOptions<MemoryStore, Record<string, unknown>>> {
  readonly database?: MemoryDatabase
  readonly clock?: FakeClock
}

/** What is published stays where it waits to be sent. */
const nowhere: Publisher = {
  destination: 'test',
  async publish() {
    throw new Error('nobody relays here')
  },
  async close() {},
}

/** The engine without a consumer: what is handled together is exactly what the test says. */
export function openEngine(options: OpenEngineOptions = {}) {
  const { database: shared, clock = fakeClock(), ...given } = options
  const database = shared ?? new MemoryDatabase({ clock })
  const store = given.store ?? memoryStore({ database })
  const handlers = new Handlers()
  const events = eventHub()
  const seen: JustonceEvent[] = []
  events.listen((event) => seen.push(event))
  let wakings = 0
  const wake = (): void => void wakings++
  const outlet = new Destinations({ store, publishers: { test: nowhere }, clock, checkReturn() {} })
  for (const destination of outlet.all) outlet.relayedBy(destination, wake)
  const engine = buildEngine({ ...given, store }, { handlers, clock, events, outlet, wake })
  const acknowledged: Delivery[] = []
  const feed: Feed = {
    inside: undefined,
    async acknowledge(deliveries) {
      acknowledged.push(...deliveries)
    },
  }
  const add = (type: string, name: string | HandlerOptions, call: Parameters<typeof decideHandler>[3]): void =>
    handlers.add(decideHandler(type, typeof name === 'string' ? { name } : name, handlers.countOf(type), call))
  return {
    engine: engine as Engine<MemoryTx>,
    feed,
    store,
    database,
    clock,
    events: seen,
    wakings: () => wakings,
    /** The ids of what the broker may forget, in order. */
    acknowledged: () => acknowledged.map(({ message }) => message.id),
    on: (type: string, name: string | HandlerOptions, run: Call) =>
      add(type, name, { kind: 'each', run: run as never }),
    onBatch: (type: string, name: string | HandlerOptions, run: BatchCall) =>
      add(type, name, { kind: 'batch', run: run as never }),
    /** Rejects when the store goes away. */
    async handle(...messages: readonly MessageToSend[]): Promise<BatchResult> {
      const deliveries = messages.map((message) => ({ message: toIncoming(message, 'test') }))
      const result = await handleDeliveries(engine, feed, deliveries)
      if (result.down !== undefined) throw result.down.error
      return result
    },
    /** Gives everything that is due its next attempt; whether there was anything. */
    async retry(): Promise<boolean> {
      const letters = await reserveDue(engine, { limit: 100 })
      const { background } = await retryMessages(engine, feed, letters)
      await Promise.all(background)
      return letters.length > 0
    },
    /** The ids of what was published, in order. */
    async published(): Promise<readonly string[]> {
      const taken = await store.queue.take('>test', { limit: 100, visibilityMs: 1 })
      await store.queue.hide('>test', taken, 0, { untaken: true })
      return taken.map(({ message }) => unpackOutgoing(message).id)
    },
    /** How often each name was written with `write`. */
    effects: (): Record<string, number> =>
      Object.fromEntries(database.values.committedEntries().map(([key, { value }]) => [key, value as number])),
    eventsOf: <Kind extends JustonceEvent['kind']>(kind: Kind): Extract<JustonceEvent, { kind: Kind }>[] =>
      seen.filter((event): event is Extract<JustonceEvent, { kind: Kind }> => event.kind === kind),
  }
}
