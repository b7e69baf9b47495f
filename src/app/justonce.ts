import { systemClock } from '../clock/index.ts'
import type { Store, StoreWarning, Transport } from '../contracts/index.ts'
import { outboxRow } from '../encoding/packed-message.ts'
import type { Handler, PublishOptions } from '../engine/handler.ts'
import { encodeOutgoing } from '../engine/outgoing.ts'
import { checkNumber, JustonceError } from '../errors/index.ts'
import { auditedActions, deadLetters, forgetRecord, operableEngine } from '../letters/index.ts'
import { outgoing } from '../outgoing/outgoing.ts'
import { type AppOptions, checkAppOptions, decideConcurrency } from './app-options.ts'
import { buildEngine, decideBatch } from './build-engine.ts'
import { checkWhatHandlersNeed } from './check-transport.ts'
import { consoleLog } from './console-log.ts'
import { decideHandler } from './decide-handler.ts'
import { deliver } from './deliver.ts'
import { eventHub } from './event-hub.ts'
import type { HandlerOptions } from './handler-options.ts'
import { Handlers } from './handlers.ts'
import { decideInFlight } from './in-flight-options.ts'
import { pinSchemes } from './pin-schemes.ts'
import { whenStoreIsThere } from './prepare-store.ts'
import { maintenanceOf, schemeOfIds } from './retention-options.ts'
import { warnOfRetention } from './retention-warnings.ts'
import { closeTransports, insideOf, Running } from './running.ts'
import type { App } from './types.ts'

/**
 * Makes an app: handlers whose effects happen once for each message, however often it is delivered.
 *
 * ```ts
 * const app = justonce({ store: postgresStore({ pool }), transport })
 * app.on('note.created', 'tag-note', async (message, { tx }) => { … })
 * await app.start()
 * ```
 */
export function justonce<S extends Store, Map extends object = Record<string, unknown>>(
  options: AppOptions<S, Map>,
): App<S, Map> {
  checkAppOptions(options)
  const { store } = options
  const clock = options.clock ?? systemClock
  const events = eventHub(options.log === false ? undefined : consoleLog(clock))
  const handlers = new Handlers()
  const transports = options.transport === undefined ? Object.values(options.transports ?? {}) : [options.transport]
  let state: 'new' | 'starting' | 'started' | 'stopped' = 'new'
  let running: Running | undefined
  let stopped: Promise<void> | undefined
  const stopping = new AbortController()
  const ids = schemeOfIds(options.ids)
  const timeless = new Set<string>()
  const engine = buildEngine(options, { handlers, clock, events, timeless, wake: (loop) => running?.wake(loop) })

  // Asked through a function, because it may change while something is awaited.
  const isState = (asked: typeof state): boolean => state === asked

  function register<Body>(type: string, given: string | HandlerOptions<Body>, call: Handler['call']): void {
    if (state !== 'new')
      throw new JustonceError('APP_STARTED', { message: `Cannot register a handler for ${type} now.` })
    // From here on bodies are unknown: that they have the type of Body is between the schema and the caller.
    const named = (typeof given === 'string' ? { name: given } : given) as unknown as HandlerOptions
    const handler = decideHandler(type, named, handlers.countOf(type), call, ids)
    if (handler.delivery === 'exactly-once' && store.guarantee === 'lease') {
      throw new JustonceError('GUARANTEE_TOO_WEAK', {
        message: `Handler ${handler.name} is exactly-once, but the guarantee of ${store.name} is only a lease: a crash may repeat the effect.`,
      })
    }
    handlers.add(handler)
  }

  async function end(withinMs: number): Promise<void> {
    // Whoever has only published has connections, too.
    const unfinished = await (running?.stop(withinMs) ?? closeTransports(transports, clock, withinMs))
    if (unfinished.length > 0) events.emit({ kind: 'stop-unfinished', withinMs, unfinished })
  }

  return {
    events,
    deadLetters: deadLetters(engine),
    outgoing: outgoing(store, () => running?.wake('relay')),
    forget: async (key, signature) => forgetRecord(operableEngine(engine), key, signature),
    audit: (limit) => auditedActions(engine, limit),
    on: (type, given, run) => register(type, given, { kind: 'each', run: run as never }),
    onBatch: (type, given, run) => register(type, given, { kind: 'batch', run: run as never }),
    order(type, names) {
      if (state !== 'new')
        throw new JustonceError('APP_STARTED', { message: `Cannot order the handlers of ${type} now.` })
      handlers.order(type, names)
    },
    deliver: (message) => deliver(engine, message),

    async publish(type, body, { tx, ...given } = {}) {
      const message = encodeOutgoing({ type, body, options: given as PublishOptions, now: clock.now() })
      const [first] = transports as [Transport?]
      const inside = first === undefined ? undefined : insideOf(store, first)
      if (tx !== undefined && inside !== undefined) await inside.publish(tx, [message])
      else if (tx !== undefined) await outboxOf(store).append(tx, [outboxRow(message)])
      else await sendNow(first, message)
      return message.id
    },

    async start({ withinMs } = {}) {
      checkNumber(withinMs ?? 0, 'withinMs of start()', 0)
      if (state !== 'new' || transports.length === 0 || handlers.isEmpty) {
        const why =
          state !== 'new' ? `it is ${state}` : transports.length === 0 ? 'it has no transport' : 'it has no handler'
        throw new JustonceError('APP_NOT_STARTABLE', { message: `The app cannot be started: ${why}.` })
      }
      for (const transport of transports) checkWhatHandlersNeed(handlers.all, store, transport)
      const concurrency = decideConcurrency(store, options.concurrency, transports.length)
      const batch = decideBatch(options)
      state = 'starting'
      let warnings: readonly StoreWarning[] | undefined
      try {
        const prepare = async () => {
          await (options.schema === 'check' ? store.schema.check() : store.schema.install())
          if (store.retention !== undefined)
            for (const name of await pinSchemes(store.retention, handlers.all)) timeless.add(name)
          return (await store.warnings?.()) ?? []
        }
        warnings = await whenStoreIsThere(prepare, { store, clock, events, withinMs, signal: stopping.signal })
      } catch (error) {
        // Nothing has begun: it may be started when the store is there.
        if (isState('starting')) state = 'new'
        throw error
      }
      if (warnings === undefined || isState('stopped')) return
      state = 'started'
      running = new Running(engine, {
        transports,
        consumer: {
          concurrency,
          batch,
          inFlight: decideInFlight(options.inFlight, concurrency, batch),
          heldDelayMs: 1_000,
        },
        pollMs: options.pollMs ?? 1_000,
        maintenance: maintenanceOf(options.retention),
      })
      for (const { code, message } of warnings) events.emit({ kind: 'warning', code, message })
      warnOfRetention(options.retention, handlers.all, transports, events)
      running.start()
    },

    async stop({ withinMs = 25_000 } = {}) {
      checkNumber(withinMs, 'withinMs of stop()', 0)
      state = 'stopped'
      stopping.abort()
      stopped ??= end(withinMs)
      await stopped
    },
  }
}

async function sendNow(
  transport: Transport | undefined,
  message: Parameters<Transport['publish']>[0][number],
): Promise<void> {
  if (transport === undefined)
    throw new JustonceError('APP_NOT_STARTABLE', { message: 'publish() has no transport to send to.' })
  const [result] = await transport.publish([message])
  if (result?.kind === 'refused') {
    throw new JustonceError('PUBLISH_REFUSED', {
      message: `${transport.name} refused message ${message.id} of type ${message.type}.`,
      cause: result.error,
    })
  }
}

function outboxOf(store: Store) {
  if (store.outbox !== undefined) return store.outbox
  throw new JustonceError('OPTION_INVALID', { message: `publish() was given tx, but ${store.name} has no outbox.` })
}
