import { decideAlerts } from '../alerts/index.ts'
import { systemClock } from '../clock/index.ts'
import type { Store, StoreWarning } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Handler } from '../engine/handler.ts'
import { onceInApp } from '../engine/once/once.ts'
import { checkChoice, checkNumber, JustonceError } from '../errors/index.ts'
import { rememberHandlers } from '../facts/index.ts'
import type { Heartbeat } from '../heartbeat/heartbeat.ts'
import { decideEffect, isElsewhere } from '../intents/decide-effect.ts'
import type { EffectOptions, ElsewhereOptions } from '../intents/effect.ts'
import { Effects as KnownEffects } from '../intents/effects.ts'
import { knownHandlers } from '../letters/index.ts'
import { type OperatorChange, operations } from '../operations/index.ts'
import { Destinations } from '../outgoing/destinations.ts'
import { reservationEffect } from '../reservations/reservation-effect.ts'
import { alertParts, webhookEffects } from './alerting.ts'
import { type AppOptions, checkAppOptions, type Duty, decideConcurrency, dutiesOf } from './app-options.ts'
import { whenBrokersAreThere } from './await-brokers.ts'
import { BrokerWatch } from './broker-watch.ts'
import { buildEngine, decideBatch } from './build-engine.ts'
import { cancelPublished } from './cancel-published.ts'
import { checkWhatHandlersNeed } from './check-transport.ts'
import { consoleLog } from './console-log.ts'
import { decideHandler } from './decide-handler.ts'
import { deliver } from './deliver.ts'
import { eventHub } from './event-hub.ts'
import type { AnyHandlerOptions } from './handler-options.ts'
import { Handlers } from './handlers.ts'
import { type AppState, HealthWatch } from './health.ts'
import { decideInFlight } from './in-flight-options.ts'
import { intendWithin } from './intending.ts'
import { pinSchemes } from './pin-schemes.ts'
import { whenStoreIsThere } from './prepare-store.ts'
import { Publishing } from './publishing.ts'
import { heartbeatOf } from './reporting.ts'
import { maintenanceOf, schemeOfIds } from './retention-options.ts'
import { warnOfRetention } from './retention-warnings.ts'
import { closeDrivers, Running } from './running.ts'
import { Schedules } from './schedules.ts'
import type { App } from './types.ts'
import { decideWays, driversOf, returnCheck } from './ways.ts'

/**
 * Creates an app: handlers whose effects happen once for each message, however often it is delivered.
 *
 * ```ts
 * const app = justonce({ store: postgresStore({ pool }), transport })
 * app.on('note.created', 'tag-note', async (message, { tx }) => { … })
 * await app.start()
 * ```
 */
export function justonce<
  S extends Store,
  Map extends object = Record<string, unknown>,
  Effects extends object = Record<string, unknown>,
>(options: AppOptions<S, Map, Effects>): App<S, Map, Effects> {
  checkAppOptions(options)
  const { store } = options
  const clock = options.clock ?? systemClock
  const ways = decideWays(options)
  const watch = new HealthWatch(store, clock, ways.from)
  let heartbeat: Heartbeat | undefined
  const events = eventHub(options.log === false ? undefined : consoleLog(clock), (event) => {
    watch.heard(event)
    heartbeat?.heard(event)
  })
  const handlers = new Handlers()
  const effects = new KnownEffects((type) => handlers.countOf(type) > 0)
  const destinations = new Destinations({
    store,
    publishers: ways.to,
    routes: ways.routes,
    clock,
    checkReturn: returnCheck(ways, (type) => handlers.isEmpty || handlers.countOf(type) > 0),
  })
  let state: AppState = 'new'
  let running: Running | undefined
  let stopped: Promise<void> | undefined
  const stopping = new AbortController()
  const ids = schemeOfIds(options.ids)
  const timeless = new Set<string>()
  const engine = buildEngine(options, {
    ...{ handlers, clock, events, timeless, effects, from: ways.from },
    outlet: destinations,
    wake: (loop) => running?.wake(loop),
  })

  const rules = decideAlerts(options.alerts)
  for (const [name, effect] of webhookEffects(options.name, rules)) effects.add(decideEffect(name, effect))
  const publishing = new Publishing(engine, destinations)
  const schedules = new Schedules(engine, destinations)

  // A function, because the state may change while something is awaited.
  const isState = (asked: typeof state): boolean => state === asked

  function register<Body>(type: string, given: string | AnyHandlerOptions<Body>, call: Handler['call']): void {
    if (state !== 'new')
      throw new JustonceError('APP_STARTED', { message: `Cannot register a handler for ${type} now.` })
    // From here on bodies are unknown: whether they have the type Body is up to the schema and the caller.
    const named = (typeof given === 'string' ? { name: given } : given) as unknown as AnyHandlerOptions
    const handler = decideHandler(type, named, handlers.countOf(type), call, ids)
    if (handler.delivery === 'exactly-once' && store.guarantee === 'lease') {
      throw new JustonceError('GUARANTEE_TOO_WEAK', {
        message: `Handler ${handler.name} is exactly-once, but the guarantee of ${store.name} is only a lease: a crash may repeat the effect.`,
      })
    }
    handlers.add(handler)
  }

  function registerEffect(name: string, given: EffectOptions | ElsewhereOptions): void {
    if (state !== 'new') throw new JustonceError('APP_STARTED', { message: `Cannot register the effect ${name} now.` })
    if (isElsewhere(name, given)) effects.addElsewhere(name)
    else effects.add(decideEffect(name, given))
  }

  function whyNotStartable(duties: readonly Duty[]): string | undefined {
    if (state !== 'new') return `it is ${state}`
    const isAlone = options.only === undefined
    if (isAlone && ways.from.length === 0 && destinations.all.length === 0 && effects.all.length === 0)
      return 'it has no transport, neither from nor to, and no effect'
    if (!isAlone && duties.includes('intents') && effects.all.length === 0) return 'it has no effect'
    if (!isAlone && duties.includes('consumer') && ways.from.length === 0) return 'it has nothing to consume from'
    if (!isAlone && duties.includes('relay') && destinations.all.length === 0) return 'it has nowhere to relay to'
    if (duties.includes('consumer') && ways.from.length > 0 && handlers.isEmpty) return 'it has no handler'
    return undefined
  }

  async function end(withinMs: number): Promise<void> {
    // An app that has only published has connections, too.
    const unfinished = await (running?.stop(withinMs) ?? closeDrivers(driversOf(ways), clock, withinMs))
    if (unfinished.length > 0) events.emit({ kind: 'stop-unfinished', withinMs, unfinished })
  }

  const operated = operations(engine.store, {
    clock,
    handlers: knownHandlers(engine),
    changed: (change) => passOn(change, engine),
    ownReport: () => (isState('started') ? heartbeat?.current() : undefined),
  })

  return {
    store,
    events: { listen: (listener, how) => events.listen(listener, how) },
    operations: operated,
    on: (type, given, run) => register(type, given, { kind: 'each', run: run as never }),
    onBatch: (type, given, run) => register(type, given, { kind: 'batch', run: run as never }),
    order(type, names) {
      if (state !== 'new')
        throw new JustonceError('APP_STARTED', { message: `Cannot order the handlers of ${type} now.` })
      handlers.order(type, names)
    },
    deliver: (message) => deliver(engine, message),
    pause: (name) => engine.breakers.pause(handlers.get(name)),
    resume(name) {
      engine.breakers.resume(handlers.get(name))
      engine.wake('retries')
    },

    publish: async (type, body, { tx, ...options } = {}) => await publishing.one({ type, body, options, tx }),
    publishAll: async (messages, options) => await publishing.all(messages, options),
    cancel: async (id, options) => await cancelPublished(store, destinations, id, options),

    schedule(name, options) {
      if (state !== 'new') throw new JustonceError('APP_STARTED', { message: `Cannot add the schedule ${name} now.` })
      schedules.add(name, options)
    },
    effect: (name, given) => registerEffect(name, given as EffectOptions | ElsewhereOptions),
    reservation: (name, given) =>
      registerEffect(name, reservationEffect({ facts: store.facts, clock }, name, given) as EffectOptions),
    intend: async (effect, payload, given) => await intendWithin(engine, effect, payload, given),

    once: (key, work) => onceInApp(engine, key, work as never) as never,

    async start({ withinMs, waitFor = 'store' } = {}) {
      checkNumber(withinMs ?? 0, 'withinMs of start()', 0)
      checkChoice(waitFor, 'waitFor of start()', ['store', 'brokers'])
      const begunAt = clock.monotonicMs()
      const duties = dutiesOf(options.only)
      const from = duties.includes('consumer') ? ways.from : []
      const why = whyNotStartable(duties)
      if (why !== undefined)
        throw new JustonceError('APP_NOT_STARTABLE', { message: `The app cannot be started: ${why}.` })
      for (const subscriber of from) checkWhatHandlersNeed(handlers.all, store, subscriber)
      const concurrency = decideConcurrency(store, options.concurrency, from.length)
      const batch = decideBatch(options)
      const brokers = new BrokerWatch(driversOf(ways), { clock, events })
      const reporting = heartbeatOf(
        engine,
        {
          ...{ app: options.name, duties, handlers },
          sources: from.map(({ name }) => name),
          destinations: destinations.all.map(({ name }) => name),
          pool: { connections: store.capabilities.connections, batches: concurrency * from.length },
          brokers: () => brokers.known,
          trouble: () => watch.failing,
        },
        options.heartbeat,
      )
      state = 'starting'
      let warnings: readonly StoreWarning[] | undefined
      try {
        await schedules.check()
        const prepare = async () => {
          await (options.schema === 'check' ? store.schema.check() : store.schema.install())
          if (store.retention !== undefined)
            for (const name of await pinSchemes(store, handlers.all)) timeless.add(name)
          else await rememberHandlers(store, handlers.names)
          await reporting?.prepare()
          return (await store.warnings?.({ interleaves: handlers.all.some(({ interleave }) => interleave) })) ?? []
        }
        warnings = await whenStoreIsThere(prepare, { store, clock, events, withinMs, signal: stopping.signal })
      } catch (error) {
        // Nothing has begun, so the app may be started again when the store is available.
        if (isState('starting')) state = 'new'
        throw error
      }
      if (warnings === undefined || isState('stopped')) return
      state = 'started'
      heartbeat = reporting
      running = new Running(engine, destinations, effects, {
        duties,
        from,
        drivers: driversOf(ways),
        consumer: {
          concurrency,
          isFixed: options.concurrency !== undefined,
          batch,
          inFlight: decideInFlight(options.inFlight, concurrency, batch),
          heldDelayMs: 1_000,
        },
        pollMs: options.pollMs ?? 1_000,
        maintenance: {
          ...maintenanceOf(options.retention),
          isTimeless: !handlers.isEmpty && handlers.all.every(({ born }) => born.name === 'none'),
        },
        heartbeat,
        brokers: heartbeat === undefined ? undefined : brokers,
        alerts: rules.length === 0 ? undefined : alertParts(engine, operated, options.name, rules),
        schedules: schedules.parts,
      })
      for (const { code, message } of warnings) events.emit({ kind: 'warning', code, message })
      warnOfRetention(options.retention, handlers.all, from, events)
      running.start()
      if (waitFor === 'store') return
      const leftMs = withinMs === undefined ? undefined : Math.max(0, begunAt + withinMs - clock.monotonicMs())
      await whenBrokersAreThere(running.connections, { clock, withinMs: leftMs, signal: stopping.signal })
    },

    health: async ({ withinMs = 2_000 } = {}) => watch.look(state, withinMs),

    async stop({ withinMs = 25_000 } = {}) {
      checkNumber(withinMs, 'withinMs of stop()', 0)
      state = 'stopped'
      stopping.abort()
      stopped ??= end(withinMs)
      await stopped
    },
  }
}

/** Passes an operator's change on to the loops and the listeners of this app. */
function passOn(change: OperatorChange, { wake, recent, events }: Engine<unknown>): void {
  if (change.kind === 'redrive-started') wake('redrives')
  else if (change.kind === 'retried') wake('retries')
  else if (change.kind === 'pauses-changed') wake('heartbeat')
  else if (change.kind === 'record-forgotten') recent.clear()
  else if (change.kind === 'intent-resolved') {
    wake('intents')
    wake('retries')
  } else events.emit({ kind: 'redrive-ended', id: change.id, state: 'stopped' })
}
