import type { Clock, Events, Store, Subscriber } from '../contracts/index.ts'
import { RecentCommits } from '../engine/batch/recent-commits.ts'
import { HandlerSlots } from '../engine/batch/slots.ts'
import { CallsInProgress } from '../engine/calls/calls-in-progress.ts'
import { Interleaving } from '../engine/calls/interleaving.ts'
import { Isolation } from '../engine/calls/isolation.ts'
import type { Engine } from '../engine/engine.ts'
import { gathers } from '../engine/handler.ts'
import { Hooks } from '../engine/hooks.ts'
import { decideBusinessId } from '../engine/intake/business-id.ts'
import type { StandardSchema } from '../engine/intake/standard-schema.ts'
import { BlockedKeys } from '../engine/order/blocked-keys.ts'
import { Breakers } from '../engine/recovery/breakers.ts'
import { Effects as KnownEffects } from '../intents/effects.ts'
import type { AppOptions } from './app-options.ts'
import { decideCodecs } from './codec-options.ts'
import type { Handlers } from './handlers.ts'

export interface BatchSettings {
  readonly max: number
  /** The same for messages that together take about as long as one. */
  readonly gatheredMax: number
  readonly budgetMs: number
}

/** With a single writer, a larger batch blocks no other transaction, and the commits are the main cost. */
export function decideBatch(options: {
  readonly store: Pick<Store, 'capabilities'>
  readonly batch?: { readonly max?: number; readonly budgetMs?: number }
}): BatchSettings {
  const { max, budgetMs = 100 } = options.batch ?? {}
  if (max !== undefined) return { max, gatheredMax: max, budgetMs }
  const hasOneWriter = options.store.capabilities.connections === 1
  return hasOneWriter ? { max: 1_000, gatheredMax: 1_000, budgetMs } : { max: 100, gatheredMax: 500, budgetMs }
}

export function buildEngine<S extends Store, Map extends object, Effects extends object>(
  options: AppOptions<S, Map, Effects>,
  parts: {
    readonly handlers: Handlers
    readonly clock: Clock
    readonly events: Events
    readonly timeless?: ReadonlySet<string>
    readonly outlet: Engine<unknown>['outlet']
    readonly effects?: Engine<unknown>['effects']
    readonly from?: readonly Subscriber[]
    wake: Engine<unknown>['wake']
  },
): Engine<unknown> {
  const { handlers, clock, events } = parts
  const batch = decideBatch(options)
  const schemas = (options.messages?.schemas ?? {}) as Readonly<Record<string, StandardSchema>>
  return {
    store: options.store,
    hints: options.hints,
    clock,
    events,
    limits: { maxBodyBytes: options.maxBodyBytes ?? 1_048_576, maxHeaderBytes: options.maxHeaderBytes ?? 65_536 },
    unknownTypes: options.unknownTypes ?? 'dead-letter',
    handlersOf: (type) => handlers.ofType(type),
    handlerNamed: (name) => handlers.named(name),
    get isLimited() {
      return handlers.all.some(({ concurrency }) => concurrency !== undefined)
    },
    get isGathering() {
      return handlers.all.some(gathers)
    },
    get handlerNames() {
      return handlers.names
    },
    schemaOf: (type) => (Object.hasOwn(schemas, type) ? schemas[type] : undefined),
    codecOf: decideCodecs(options.codec),
    beforeEach: options.beforeEach as Engine<unknown>['beforeEach'],
    around: options.around,
    traceHeaders: options.traceHeaders,
    businessIdOf: decideBusinessId(options.businessId),
    timeless: parts.timeless ?? new Set(),
    tooOld: options.retention?.tooOld ?? 'dead-letter',
    recent: new RecentCommits(clock),
    isolation: new Isolation(batch.max, { travels: options.store.parts?.travels }),
    interleaving: new Interleaving(),
    breakers: new Breakers(clock, events),
    blockedKeys: new BlockedKeys(),
    slots: new HandlerSlots(),
    calls: new CallsInProgress(),
    hooks: new Hooks(clock, events),
    timing: {
      overrunMs: batch.budgetMs * 4,
      // Another batch may take its whole budget. One that takes longer is probably waiting for us, or frozen, and
      // everybody who wants our rows waits, too.
      batchLockTimeoutMs: within(50, batch.budgetMs, 1_000),
      aloneLockTimeoutMs: within(200, batch.budgetMs * 5, 1_000),
      longestLockTimeoutMs: 5_000,
      // A holder that is silent for longer than any handler may take is frozen or dead.
      get idleTimeoutMs() {
        return handlers.longestTimeoutMs + 10_000
      },
      get statementTimeoutMs() {
        return handlers.longestTimeoutMs + 1_000
      },
      conflictsPerAttempt: 10,
    },
    outlet: parts.outlet,
    effects: parts.effects ?? new KnownEffects(),
    stillGivenUp: (message) => firstOf(parts.from ?? [], (each) => each.stillGivenUp?.(message)),
    wake: parts.wake,
  }
}

function within(least: number, value: number, most: number): number {
  return Math.min(Math.max(least, value), most)
}

function firstOf<Of, Found>(all: readonly Of[], find: (each: Of) => Found | undefined): Found | undefined {
  for (const each of all) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}
