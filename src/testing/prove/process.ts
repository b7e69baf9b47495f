import type { AppOptions } from '../../app/app-options.ts'
import { buildEngine } from '../../app/build-engine.ts'
import { eventHub } from '../../app/event-hub.ts'
import { Handlers } from '../../app/handlers.ts'
import type { Clock, Delivery, Store } from '../../contracts/index.ts'
import { handleDeliveries } from '../../engine/batch/handle-deliveries.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Feed } from '../../engine/feed.ts'
import { reserveDue, retryMessages } from '../../engine/retries/retry-due.ts'
import { outgoingNames } from '../../engine/retries/wanted.ts'
import { isJustonceError } from '../../errors/index.ts'
import { Effects } from '../../intents/effects.ts'
import { Destinations } from '../../outgoing/destinations.ts'
import type { Broker } from './broker.ts'
import { Gate } from './gate.ts'
import { gatedStore } from './gated-store.ts'
import { hastyClock } from './hasty-clock.ts'
import type { Journal } from './journal.ts'
import { Life } from './life.ts'
import { isNeighbour } from './neighbour.ts'
import type { UntypedOptions } from './options.ts'
import type { PinSettings } from './pins.ts'
import { bareTransport, provingApp } from './proving-app.ts'
import type { ScratchCopy } from './scratch.ts'
import type { Step, Strike } from './steps.ts'
import { transientError } from './transient-error.ts'

export interface ProcessParts<S extends Store> {
  readonly number: number
  readonly options: UntypedOptions<S>
  readonly copy: ScratchCopy<S>
  readonly broker: Broker
  readonly journal: Journal
  readonly pins: PinSettings
  strikeAt(step: Step): Strike | undefined
  /** Called when a handler is called with a message, and when that call has settled. */
  called(messageId: string, what: 'begins' | 'settles'): void
}

/** A process that runs the user's handlers on the real engine, and can die at any step. */
export interface SimulatedProcess<S extends Store> {
  readonly number: number
  readonly life: Life
  /** The store itself, without the gate. */
  readonly store: S
  /** Handles them as one batch. Resolves to `died` if the process died on the way. */
  handle(deliveries: readonly Delivery[]): Promise<'done' | 'died'>
  /** Gives parked messages their next attempts until none is due. */
  retryAll(): Promise<void>
  close(): Promise<void>
}

export async function startProcess<S extends Store>(parts: ProcessParts<S>): Promise<SimulatedProcess<S>> {
  const { number, options, copy, journal } = parts
  const life = new Life()
  const gate = new Gate({ process: number, life, journal, strikeAt: parts.strikeAt })
  const opened = await copy.openStore()
  const gated = gatedStore(opened.store, { process: number, gate, life, journal })
  const handlers = new Handlers()
  const effects = new Effects((type) => handlers.countOf(type) > 0)
  await options.register(provingApp({ ...parts, gate, life, gated, handlers, effects }), copy.place)
  const clock = hastyClock()
  const engine = engineOf(parts, gated.store, { handlers, effects, clock, life })
  const feed = feedOf(parts, gate)
  return {
    number,
    life,
    store: opened.store,
    async handle(deliveries) {
      const handling = handleDeliveries(engine, feed, deliveries).then(async ({ background, down }) => {
        if (down !== undefined) throw down.error
        await Promise.all(background)
        return 'done' as const
      })
      handling.catch(() => {})
      return await Promise.race([handling, life.ended.then(() => 'died' as const)])
    },
    async retryAll() {
      for (let attempts = 0; attempts < 100; attempts++) {
        // What was published with a delay stays: nothing is sent here.
        const due = await reserveDue(engine, { limit: 100, except: new Set(outgoingNames(engine)) })
        if (due.length === 0) return
        await Promise.all((await retryMessages(engine, feed, due)).background)
      }
    },
    async close() {
      clock.stop()
      await gated.settled()
      await opened.close()
    },
  }
}

function engineOf<S extends Store>(
  { options, journal }: ProcessParts<S>,
  store: S,
  {
    handlers,
    effects,
    clock,
    life,
  }: { readonly handlers: Handlers; readonly effects: Effects; readonly clock: Clock; readonly life: Life },
): Engine<unknown> {
  const events = eventHub()
  events.listen((event) => {
    if (life.isOver) return
    if (event.kind === 'parked' && !isNeighbour(event.key))
      journal.failures.push({ handler: event.handler, error: event.error })
    if (event.kind === 'rolled-back' && isRolledBack(event.error)) journal.undone++
    if (event.kind === 'warning' && event.code === 'NOT_INTERLEAVABLE') journal.notInterleavable.add(event.message)
  })
  // The time between two messages never counts as an overrun, so a debugger or a slow machine does not change the result.
  const appOptions = { ...options.app, store, batch: { budgetMs: 600_000 } } as AppOptions<S, Record<string, unknown>>
  // A published message counts as an effect once it is stored. Nothing is sent, so the destination does not matter.
  const outlet = new Destinations({ store, publishers: { prove: bareTransport }, clock, checkReturn() {} })
  return buildEngine(appOptions, { handlers, effects, clock, events, outlet, wake() {} })
}

/** The database refused to commit because an error in the transaction had been ignored. */
function isRolledBack(error: unknown): boolean {
  return isJustonceError(error, 'TX_ABORTED') || isJustonceError(error, 'COMMIT_ROLLED_BACK')
}

function feedOf<S extends Store>({ broker }: ProcessParts<S>, gate: Gate): Feed {
  return {
    inside: undefined,
    async acknowledge(deliveries) {
      const step: Step = { kind: 'ack', text: '' }
      const run = (): void => broker.acknowledge(deliveries)
      const fail = (): never => {
        throw transientError()
      }
      // If an acknowledgement fails, the message is redelivered.
      await gate.pass<void>({ step, run, fail }).catch(() => {})
    },
  }
}
