import { channel } from 'node:diagnostics_channel'
import { systemClock } from '../../clock/index.ts'
import type { AfterJson, Events, JoinedStore, Store } from '../../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import type { CallContext } from '../handler.ts'
import { Hooks } from '../hooks.ts'
import { checkKey } from '../intake/check-envelope.ts'
import { type OnceSite, onceInOwnTransaction, onceJoined } from './run-once.ts'

/** What `once()` recognises a repeated call by, and what it keeps of it. */
export interface OnceKey {
  /** Names the work; half of the idempotency key. */
  readonly handler: string
  /** The id of the message, event or request. */
  readonly key: string
  /** Compared with the content of the first call: the same key with different content is refused with `KEY_REUSED`. */
  readonly content?: unknown
  /**
   * How long to wait for another call with the same key before the outcome is `busy`. Does not limit the work itself.
   * Default: 10 s.
   */
  readonly waitMs?: number
  /** After this time the work is aborted, and everything it did is rolled back. Default: 30 s. */
  readonly timeoutMs?: number
}

/** `value` is the result of the work after a JSON round trip. */
export type OnceOutcome<Value> =
  | { readonly status: 'processed'; readonly value: AfterJson<Value> }
  | { readonly status: 'duplicate'; readonly value: AfterJson<Value>; readonly processedAt: Date }
  /** Another call with the same key is still running. */
  | { readonly status: 'busy' }
  /** A handler of an app with this name has failed on it. Its parked message owns all further attempts. */
  | { readonly status: 'parked' }

/** What the work receives besides `tx`. With `app.once()` it can publish and intend, too. */
export interface OnceContext extends JoinedOnceContext {
  /** Runs after the commit, at most once: a crash in between loses it. `once` waits for it, for at most `timeoutMs`. */
  afterCommit(work: () => unknown): void
}

/** The context of work in a transaction of the caller. */
export interface JoinedOnceContext {
  /** Aborted when the time is up. */
  readonly signal: AbortSignal
}

/**
 * Runs the work once for each (handler, key), in one transaction with its record. The result of the work is kept as
 * JSON and returned to every duplicate. The first call gets the same JSON round trip, so both see the same value.
 *
 * ```ts
 * const outcome = await once(store, { handler: 'charge', key: event.id, content: event }, async (tx) => {
 *   await tx.query('insert into charges …')
 *   return { charged: event.amount }
 * })
 * ```
 * With `store.within(tx)` it joins a transaction that the caller has opened: the outcome is provisional until the
 * caller commits, so there is no `afterCommit`.
 */
export async function once<Tx, Value>(
  store: Store<Tx>,
  key: OnceKey,
  work: (tx: Tx, context: OnceContext) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>>
export async function once<Tx, Value>(
  store: JoinedStore<Tx>,
  key: OnceKey,
  work: (tx: Tx, context: JoinedOnceContext) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>>
export async function once<Tx, Value>(
  store: Store<Tx> | JoinedStore<Tx>,
  key: OnceKey,
  work: (tx: Tx, context: OnceContext) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>> {
  checkOnceKey(key)
  if ('savepoint' in store) {
    return await onceJoined(site, store, key, (tx, { signal }) => work(tx, { signal, afterCommit: notAfterJoining }))
  }
  return await onceInOwnTransaction({ ...site, store, hooks, outlet: nowhere }, key, work)
}

/** The same for an app: the work can publish, and the app's listeners are notified. */
export async function onceInApp<Tx, Value>(
  engine: OnceSite<Tx>,
  key: OnceKey,
  work: (tx: Tx, context: CallContext) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>> {
  checkOnceKey(key)
  return await onceInOwnTransaction(engine, key, work)
}

const diagnostics = channel('justonce')
const events: Pick<Events, 'emit'> = { emit: (event) => diagnostics.publish(event) }
const hooks = new Hooks(systemClock, events)
const nowhere = { check: noPublish, store: noPublish, committed: () => {} }
const site = {
  clock: systemClock,
  events,
  schemaOf: () => undefined,
  codecOf: () => undefined,
  limits: { maxBodyBytes: 0 },
  effects: { check: noIntend, announced: () => [] },
  wake: () => {},
}

function checkOnceKey(key: OnceKey): void {
  checkOptions(key, ['handler', 'key', 'content', 'waitMs', 'timeoutMs'], 'once()')
  checkNumber(key.waitMs ?? 0, 'waitMs of once()', 0)
  checkNumber(key.timeoutMs ?? 1, 'timeoutMs of once()', 1)
  checkKey(key.handler, 'The handler given to once()')
  checkKey(key.key, 'The key given to once()')
}

function noPublish(): never {
  throw new JustonceError('OPTION_INVALID', {
    message: 'publish() cannot be used with once(store, …): only an app knows where messages go. Use app.once(…).',
  })
}

function noIntend(): never {
  throw new JustonceError('OPTION_INVALID', {
    message: 'intend() cannot be used with once(store, …): only an app knows its effects. Use app.once(…).',
  })
}

function notAfterJoining(): never {
  throw new JustonceError('OPTION_INVALID', {
    message: 'afterCommit() cannot be used with store.within(tx): only the caller knows when that transaction commits.',
  })
}
