import { type AlertOptions, decideAlerts } from '../alerts/index.ts'
import type { Clock, Hints, Message, Store } from '../contracts/index.ts'
import type { Around } from '../engine/calls/around.ts'
import type { BusinessIdOf } from '../engine/intake/business-id.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import type { CodecOptions } from './codec-options.ts'
import type { EffectMap } from './effect-map.ts'
import { checkAppName, checkHeartbeat, type HeartbeatOptions } from './heartbeat-options.ts'
import { checkInFlight, type InFlightOptions } from './in-flight-options.ts'
import type { Messages } from './messages.ts'
import { checkIds, checkRetention, type IdScheme, type RetentionOptions } from './retention-options.ts'
import type { TxOf } from './types.ts'
import type { WayOptions } from './ways.ts'

/** A piece of the work of an app. `retries` are parked messages, redrives and housekeeping; `intents` are the calls of effects. */
export type Duty = 'consumer' | 'relay' | 'retries' | 'intents' | 'schedules' | 'maintenance'

/** What `justonce()` takes. */
export interface AppOptions<S extends Store, Map extends object, Effects extends object = Record<string, unknown>>
  extends WayOptions {
  /** Names the app to operators. Records do not depend on it. Default: it has no name. */
  readonly name?: string
  /** Where records are kept, and whose transactions handlers receive: `postgresStore()` and the like. */
  readonly store: S
  /** A fast cache beside the store that recognises duplicates before a transaction is opened: `hotSide()` of `justonce/hints`. */
  readonly hints?: Hints
  /** This process has only these duties, because other processes do the rest. Default: all duties. */
  readonly only?: Duty | readonly Duty[]
  /** The types of messages and their bodies: `messages<{ 'order.paid': OrderPaid }>()`, or schemas by type. */
  readonly messages?: Messages<Map>
  /** The effects and their payloads, for the compiler: `effects<{ 'email.welcome': WelcomeMail }>()`. */
  readonly effects?: EffectMap<Effects>
  /** Reads and writes bodies that are not JSON: one for all types, or several by type. */
  readonly codec?: CodecOptions
  /**
   * Concurrent batches for each transport. Default: as many as the pool has connections, less a quarter for everything else,
   * and at most 20. While the processor of this process is busy, fewer are used, because those are larger.
   */
  readonly concurrency?: number
  /**
   * The largest batch, and how long a batch should take. Default: 100 messages and 100 ms; up to 500 messages that interleave or that a handler
   * takes together, while nothing fails; 1,000 if the store has one writer.
   */
  readonly batch?: { readonly max?: number; readonly budgetMs?: number }
  /** How many messages of each transport may be unsettled in this process. Default: eight times `batch.max`, which is 800, and 64 MiB. */
  readonly inFlight?: InFlightOptions
  /** What happens to messages of a type without a handler. Default: `dead-letter`. */
  readonly unknownTypes?: 'dead-letter' | 'ignore'
  /** A message with a larger body becomes a dead letter without being read. Default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** The same for all its headers together. Default: 64 KiB. */
  readonly maxHeaderBytes?: number
  /** Called before each handler with its transaction, for example to set a tenant or a search path. */
  readonly beforeEach?: (message: Message, tx: TxOf<S>) => unknown
  /**
   * Wraps every call of a handler: traces, log contexts, AsyncLocalStorage. It must call `next()` once and wait for it. If
   * it throws, the handler has failed. The handler's own result or error counts even if `around` does not pass it on.
   */
  readonly around?: Around
  /**
   * The headers `traceparent` and `tracestate` of the trace that runs where `publish()` is called. Default: those of the message that is
   * being handled.
   */
  readonly traceHeaders?: () => Readonly<Record<string, string>>
  /**
   * The name under which your business knows what a message is about, such as the number of an order: a header that has it, or a function.
   * Operators find messages that wait, are dead or are on their way out by it. A message that has none of its own gets that of the message
   * whose handler published it.
   */
  readonly businessId?: string | BusinessIdOf
  /** `install` brings the store's tables up to date at the start (default); `check` changes nothing and refuses to start if they are not. */
  readonly schema?: 'install' | 'check'
  /**
   * How often to look for parked and outgoing messages when nothing wakes the app. Where the store tells of outgoing messages, those
   * are looked for more rarely the longer there are none: at most ten times. Default: 1 s.
   */
  readonly pollMs?: number
  /** How the time of a message is read from its id. Only records of messages whose ids contain a time can be removed safely. */
  readonly ids?: IdScheme
  /** How long records are kept. Default: forever. */
  readonly retention?: RetentionOptions
  /**
   * How a started app tells operators that it is alive, what it is running and what it has done, through the store. `false` turns
   * that off; then the app does not obey what operators pause either. Default: true, every 5 s.
   */
  readonly heartbeat?: boolean | HeartbeatOptions
  /**
   * Rules that tell somebody, once when a number is over its limit and once when it no longer is, however many processes there are. One
   * process with the duty `maintenance` looks at them every 15 s.
   */
  readonly alerts?: readonly AlertOptions[]
  /** While nothing listens to `app.events`, important events are printed to the console. `false` turns that off. Default: true. */
  readonly log?: boolean
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
}

const known = [
  'name',
  'store',
  'hints',
  'transport',
  'from',
  'to',
  'routes',
  'only',
  'messages',
  'effects',
  'codec',
  'concurrency',
  'batch',
  'inFlight',
  'unknownTypes',
  'maxBodyBytes',
  'maxHeaderBytes',
  'beforeEach',
  'around',
  'traceHeaders',
  'businessId',
  'schema',
  'pollMs',
  'ids',
  'retention',
  'heartbeat',
  'alerts',
  'log',
  'clock',
]

export function checkAppOptions<S extends Store, Map extends object, Effects extends object>(
  options: AppOptions<S, Map, Effects>,
): void {
  checkOptions(options, known, 'justonce()')
  if (typeof options.store?.transaction !== 'function') {
    throw new JustonceError('OPTION_INVALID', { message: 'justonce() was given no store.' })
  }
  if (options.hints !== undefined) {
    checkFunction(options.hints.known, 'hints.known')
    checkFunction(options.hints.committed, 'hints.committed')
  }
  checkOptions(options.batch ?? {}, ['max', 'budgetMs'], 'batch')
  checkNumber(options.concurrency ?? 1, 'concurrency', 1)
  checkNumber(options.batch?.max ?? 1, 'batch.max', 1)
  checkNumber(options.batch?.budgetMs ?? 1, 'batch.budgetMs', 1)
  checkInFlight(options.inFlight)
  checkNumber(options.maxBodyBytes ?? 0, 'maxBodyBytes', 0)
  checkNumber(options.maxHeaderBytes ?? 0, 'maxHeaderBytes', 0)
  checkNumber(options.pollMs ?? 1, 'pollMs', 1)
  checkChoice(options.unknownTypes ?? 'dead-letter', 'unknownTypes', ['dead-letter', 'ignore'])
  checkChoice(options.schema ?? 'install', 'schema', ['install', 'check'])
  if (typeof (options.log ?? true) !== 'boolean')
    throw new JustonceError('OPTION_INVALID', { message: `log is ${String(options.log)}, but must be true or false.` })
  checkAppName(options.name)
  checkHeartbeat(options.heartbeat)
  decideAlerts(options.alerts)
  checkIds(options.ids)
  checkRetention(options.retention)
  if (options.retention !== undefined && options.store.retention === undefined) {
    throw new JustonceError('STORE_CANNOT', {
      message: `justonce() was given retention, but ${options.store.name} does not remove records.`,
    })
  }
  if (options.beforeEach !== undefined) checkFunction(options.beforeEach, 'beforeEach')
  if (options.around !== undefined) checkFunction(options.around, 'around')
  if (options.traceHeaders !== undefined) checkFunction(options.traceHeaders, 'traceHeaders')
  checkBusinessId(options.businessId)
  for (const duty of dutiesOf(options.only)) checkChoice(duty, 'only', everything)
}

function checkBusinessId(given: unknown): void {
  if (given === undefined || (typeof given === 'string' && given !== '')) return
  if (typeof given === 'function') return
  throw new JustonceError('OPTION_INVALID', {
    message: `businessId is ${typeof given === 'string' ? 'empty' : typeof given}, but must be the name of a header or a function.`,
  })
}

const everything: readonly Duty[] = ['consumer', 'relay', 'retries', 'intents', 'schedules', 'maintenance']

export function dutiesOf(only: Duty | readonly Duty[] | undefined): readonly Duty[] {
  if (only === undefined) return everything
  return typeof only === 'string' ? [only] : only
}

/** More at once would only wait for the one thread of this process. */
const mostBatches = 20

/** As many batches as the pool can serve while leaving connections for everything else. */
export function decideConcurrency(store: Store, wanted: number | undefined, transports: number): number {
  const { connections } = store.capabilities
  if (connections === 1) return 1
  const forOthers = Math.max(1, Math.floor(connections / 4))
  const most = Math.min(mostBatches, Math.floor((connections - forOthers) / Math.max(1, transports)))
  const concurrency = wanted ?? Math.max(1, most)
  if (concurrency * transports + 1 > connections) {
    throw new JustonceError('POOL_TOO_SMALL', {
      message: `The pool of ${store.name} has ${connections} connections; ${transports} transports with concurrency ${concurrency} need ${concurrency * transports + 1}.`,
    })
  }
  return concurrency
}
