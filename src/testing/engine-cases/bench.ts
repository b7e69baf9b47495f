import type { AppOptions } from '../../app/app-options.ts'
import { justonce } from '../../app/justonce.ts'
import type { App } from '../../app/types.ts'
import type {
  JustonceEvent,
  ParkedChange,
  Queue,
  QueuedMessage,
  Store,
  StoredParkedMessage,
} from '../../contracts/index.ts'
import { type MemoryTransport, type MessageToSend, memoryTransport } from '../../transports/memory/index.ts'
import type { CaseNeed, Effects, StoreCase, StoreCaseContext } from '../store-case.ts'
import { eventually } from '../waiting.ts'

/** Assumes a queue: cases that publish need one, so the store has it when they run. */
export type BenchStore = Store<unknown> & { readonly queue: Queue<unknown> }

/** The real engine on the store of a case, fed by a memory transport. */
export interface Bench {
  readonly store: BenchStore
  readonly rival: BenchStore
  readonly effects: Effects<unknown>
  /** A transaction of the application, as `effects.transaction` opens it. */
  transaction<T>(work: (tx: unknown) => Promise<T>): Promise<T>
  /** As in the context of the case: if given, it backs up the database, and resolves to what restores that state. */
  readonly backUp: (() => Promise<() => Promise<unknown>>) | undefined
  /** As in the context of the case: if given, it moves the clock of the database. */
  readonly moveClock: ((byMs: number) => unknown) | undefined
  /** An app with one lane, which is stopped when the case ends. */
  app(options?: BenchAppOptions): BenchApp
}

export interface BenchAppOptions
  extends Pick<
    AppOptions<BenchStore, Record<string, unknown>>,
    'name' | 'heartbeat' | 'pollMs' | 'ids' | 'retention' | 'clock' | 'concurrency' | 'unknownTypes' | 'maxBodyBytes'
  > {
  readonly store?: BenchStore
  readonly transport?: MemoryTransport
}

export interface BenchApp {
  readonly app: App<BenchStore, Record<string, unknown>>
  readonly transport: MemoryTransport
  readonly events: readonly JustonceEvent[]
  /** Sends them together, so that they form one batch, and resolves when all of them are settled. */
  handle(...messages: readonly MessageToSend[]): Promise<void>
  /** Resolves when everything that follows a commit is done, too. */
  stop(): Promise<void>
}

/** A case that runs the engine. It fails if the engine and this store together break the promise. */
export function engineCase(each: {
  readonly name: string
  readonly needs?: readonly CaseNeed[]
  run(bench: Bench): Promise<void>
}): StoreCase {
  return {
    name: each.name,
    needs: ['atomic', ...(each.needs ?? [])],
    async run(context) {
      const { effects, store, rival, backUp, moveClock } = context as unknown as StoreCaseContext<unknown>
      const apps: BenchApp[] = []
      const bench: Bench = {
        store: store as BenchStore,
        rival: rival as BenchStore,
        effects,
        backUp,
        moveClock,
        transaction: (work) => (effects.transaction ?? store.transaction)(work),
        app(options = {}) {
          const opened = openApp({ store: store as BenchStore, ...options })
          apps.push(opened)
          return opened
        },
      }
      await each.run(bench)
      await Promise.all(apps.map((app) => app.stop()))
    },
  }
}

function openApp({ transport = memoryTransport(), ...options }: BenchAppOptions & { store: BenchStore }): BenchApp {
  const batch = { max: 50, budgetMs: 60_000 }
  const app = justonce<BenchStore>({ pollMs: 20, concurrency: 1, ...options, transport, batch })
  const events: JustonceEvent[] = []
  app.events.listen((event) => events.push(event))
  let started: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  return {
    app,
    transport,
    events,
    async handle(...messages) {
      transport.send(messages)
      started ??= app.start()
      await started
      await transport.idle()
    },
    async stop() {
      // If it could not be started, its caller already knows.
      await started?.catch(() => {})
      stopped ??= app.stop()
      await stopped
    },
  }
}

export function note(id: string, changes: Partial<MessageToSend> = {}): MessageToSend {
  return { id, type: 'note.created', body: { id }, ...changes }
}

export const anHour = 3_600_000

/** A failure that is not retried while the case runs. */
export const later = { retry: { backoff: () => anHour } } as const

export async function countsOf(
  effects: Effects<unknown>,
  ...names: readonly string[]
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = await effects.count(name)
  return counts
}

/** The queues of published messages that are not sent yet, for all destinations. */
async function outgoingQueues({ queue }: BenchStore): Promise<readonly string[]> {
  return (await queue.queues()).filter((name) => name.startsWith('>'))
}

/** Takes the published messages that are not sent yet. */
export async function takeOutgoing(store: BenchStore): Promise<readonly QueuedMessage[]> {
  const names = await outgoingQueues(store)
  return (await Promise.all(names.map((name) => store.queue.take(name, { limit: 100, visibilityMs: 60_000 })))).flat()
}

export async function isAllSent(store: BenchStore): Promise<boolean> {
  return (await outgoingQueues(store)).length === 0
}

/** Ensures that a case about batches does not run its messages one by one. */
export function largestBatch(events: readonly JustonceEvent[]): number {
  return Math.max(0, ...events.map((event) => (event.kind === 'batch' ? event.messages : 0)))
}

/**
 * Makes all waiting messages due, as if the time had come by the database's clock, because a test cannot wait that long. Apps may be
 * running: a row that one of them holds or ends meanwhile is left to it.
 */
export async function makeDue(store: BenchStore): Promise<void> {
  let rows = await store.parking.list({ state: 'waiting' })
  await eventually(async () => {
    const left = await store.transaction(async (tx) => {
      const taken = await store.parking.take(tx, rows)
      const due = rows.filter((_, index) => taken[index])
      await store.parking.change(tx, due.map(dueNow))
      return rows.filter((_, index) => !taken[index])
    })
    rows = left.length === 0 ? [] : await store.parking.list({ state: 'waiting', keys: left })
    return rows.length === 0 ? true : undefined
  }, 'rows that nobody holds')
}

function dueNow({ handler, key, attempts, reason, errors, shape }: StoredParkedMessage): ParkedChange {
  return { handler, key, kind: 'again', attempts, delayMs: 0, reason, errors, shape }
}
