import { onTestFinished } from 'vitest'
import type { AppOptions, JustonceEvent, Transport } from '../../src/index.ts'
import { justonce } from '../../src/index.ts'
import { MemoryDatabase, type MemoryStore, type MemoryTx, memoryStore } from '../../src/stores/memory/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
import { type MemoryTransport, type MessageToSend, memoryTransport } from '../../src/transports/memory/index.ts'

type Given = Partial<Omit<AppOptions<MemoryStore, Record<string, unknown>>, 'transport' | 'clock'>>

export interface OpenAppOptions extends Given {
  readonly database?: MemoryDatabase
  readonly transport?: MemoryTransport
  /** What the app consumes from, where that is not the transport itself. */
  readonly wrapped?: Transport
  readonly clock?: FakeClock
}

/** The real engine on the memory store, fed by the memory transport, on a clock that stands still. */
export function openApp(options: OpenAppOptions = {}) {
  const {
    database: shared,
    transport = memoryTransport(),
    wrapped = transport,
    clock = fakeClock(),
    ...given
  } = options
  const database = shared ?? new MemoryDatabase({ clock })
  const store = given.store ?? memoryStore({ database })
  // So much time that the first batch takes eight messages, and the second as many as it may.
  const batch = { max: 50, budgetMs: 60_000 }
  const app = justonce<MemoryStore>({
    batch,
    ...given,
    store,
    clock,
    ...(given.from === undefined && given.to === undefined ? { transport: wrapped } : {}),
  })
  const events: JustonceEvent[] = []
  app.events.listen((event) => events.push(event))
  let started: Promise<void> | undefined
  /** Everything that was sent is settled, and what follows that is done. */
  const quiet = async (): Promise<void> => {
    await transport.idle()
    await clock.advance(0)
  }
  onTestFinished(async () => {
    const stopped = app.stop()
    // What waits for time, waits no longer.
    await clock.advance(0)
    await stopped
  })
  return {
    app,
    store,
    database,
    transport,
    clock,
    events,
    /** Sends them at once, so that they make one batch; resolves when all are settled and what follows that is done. */
    async handle(...messages: readonly MessageToSend[]): Promise<void> {
      transport.send(messages)
      started ??= app.start()
      await started
      await quiet()
    },
    quiet,
    /** How often each name was written with `write`. */
    effects(): Record<string, number> {
      return Object.fromEntries(
        database.values.committedEntries().map(([key, { value }]) => [key, value as number]),
      ) as Record<string, number>
    },
    eventsOf<Kind extends JustonceEvent['kind']>(kind: Kind): Extract<JustonceEvent, { kind: Kind }>[] {
      return events.filter((event): event is Extract<JustonceEvent, { kind: Kind }> => event.kind === kind)
    },
  }
}

/** An effect that can be counted. */
export function write(tx: MemoryTx, name: string): void {
  tx.set(name, (tx.get<number>(name) ?? 0) + 1)
}

export function note(id: string, changes: Partial<MessageToSend> = {}): MessageToSend {
  return { id, type: 'note.created', body: { id }, ...changes }
}

/** A failure that is not tried again by itself while a test runs. */
export const later = { retry: { backoff: () => 3_600_000 } } as const
