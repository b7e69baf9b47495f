import { channel } from 'node:diagnostics_channel'
import { systemClock } from '../clock/index.ts'
import type {
  ClaimAnswer,
  Inbox,
  InboxRecord,
  JoinedStore,
  JustonceEvent,
  Loan,
  LoanOptions,
  Store,
  StoreTrouble,
} from '../contracts/index.ts'
import { fingerprintOf, sameFingerprint } from '../encoding/fingerprint.ts'
import { checkNumber, checkOptions, isJustonceError, JustonceError } from '../errors/index.ts'
import { checkKey } from './check-envelope.ts'
import { Hooks } from './hooks.ts'

export interface OnceKey {
  /** Names the work; half of the idempotency key. */
  readonly handler: string
  /** The id of the message, event or request. */
  readonly key: string
  /** Compared with that of the first call: the same key with other content is refused with `KEY_REUSED`. */
  readonly content?: unknown
  /** How long to wait for a twin that is still running, before the outcome is `busy`. 10 s if not given. No limit to the work. */
  readonly waitMs?: number
}

export type OnceOutcome<Value> =
  | { readonly status: 'processed'; readonly value: Value }
  | { readonly status: 'duplicate'; readonly value: Value; readonly processedAt: Date }
  /** A twin is still running. */
  | { readonly status: 'busy' }
  /** A handler of an app with this name has failed on it; its parked message owns all further attempts. */
  | { readonly status: 'parked' }

export interface OnceContext {
  /** Runs after the commit, at most once. It is waited for, for 30 s at most. */
  afterCommit(work: () => unknown): void
}

/**
 * Runs the work once for each (handler, key), in one transaction with its record. Whatever the work returns is kept as
 * JSON and given to every duplicate; the first call gets the same JSON round trip, so both see the same value.
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
  work: (tx: Tx) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>>
export async function once<Tx, Value>(
  store: Store<Tx> | JoinedStore<Tx>,
  key: OnceKey,
  work: (tx: Tx, context: OnceContext) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>> {
  checkOptions(key, ['handler', 'key', 'content', 'waitMs'], 'once()')
  checkNumber(key.waitMs ?? 0, 'waitMs', 0)
  checkKey(key.handler, 'The handler given to once()')
  checkKey(key.key, 'The key given to once()')
  if ('savepoint' in store) {
    const noHooks = { afterCommit: notAfterJoining }
    return await store.savepoint(() => claimAndRun(store, store.tx, key, (tx) => work(tx, noHooks)))
  }
  return await onceInOwnTransaction(store, key, work)
}

async function onceInOwnTransaction<Tx, Value>(
  store: Store<Tx>,
  key: OnceKey,
  work: (tx: Tx, context: OnceContext) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>> {
  const waitMs = key.waitMs ?? 10_000
  for (let lostCommits = 0; ; ) {
    const hooks: (() => unknown)[] = []
    let claimed = false
    let isOver = false
    const afterCommit = (hook: () => unknown): void => {
      if (isOver) tellLate(key.handler)
      else hooks.push(hook)
    }
    try {
      const outcome = await store.transaction(
        (tx) =>
          claimAndRun(store, tx, key, (lent) => {
            claimed = true
            return work(lent, { afterCommit })
          }),
        { lockTimeoutMs: waitMs, giveUpAfterMs: waitMs },
      )
      isOver = true
      // The work is committed, whatever becomes of these: a failure is told, but it does not make the outcome another one.
      await afterwards.start({ name: key.handler, timeoutMs: hookTimeoutMs }, hooks)
      return outcome
    } catch (error) {
      isOver = true
      // Claiming again waits for our own lost transaction and finds out whether it has committed.
      if (isJustonceError(error, 'COMMIT_UNKNOWN') && lostCommits++ < 3) continue
      if (!claimed && store.classify(error) === 'conflict') return { status: 'busy' }
      throw error
    }
  }
}

const diagnostics = channel('justonce')

const tell = (event: JustonceEvent): void => diagnostics.publish(event)

/** As long as a handler has, if it is given no other time. */
const hookTimeoutMs = 30_000
const afterwards = new Hooks(systemClock, { emit: tell })

function tellLate(handler: string): void {
  const message = `The work of once() for ${handler} called afterCommit() when its transaction had ended.`
  tell({ kind: 'late-call', handler, error: new JustonceError('TX_CLOSED', { message }) })
}

interface Claiming<Tx> {
  setLockTimeout?(tx: Tx): Promise<void>
  readonly inbox: Inbox<Tx>
  lend(tx: Tx, options: LoanOptions): Loan<Tx>
  classify(error: unknown): StoreTrouble
}

async function claimAndRun<Tx, Value>(
  store: Claiming<Tx>,
  tx: Tx,
  { handler, key, content, waitMs }: OnceKey,
  work: (tx: Tx) => Promise<Value> | Value,
): Promise<OnceOutcome<Value>> {
  const fingerprint = content === undefined ? undefined : fingerprintOf(content)
  const { existing }: ClaimAnswer = await store.inbox.claim(tx, [{ handler, key, fingerprint }])
  if (existing[0] !== undefined) return repeated(existing[0], fingerprint, handler, key)
  // So far it was the wait for a twin; how long the work waits for what it wants itself is another matter.
  if (waitMs !== undefined) await store.setLockTimeout?.(tx)
  const loan = store.lend(tx, {
    borrower: handler,
    onLateCall: (error) => tell({ kind: 'late-call', handler, error }),
    records: [{ handler, key }],
  })
  try {
    const value = await work(loan.tx)
    await loan.settled()
    // What was not awaited may go on to send more.
    while (loan.openCalls() > 0) await loan.settled()
    const broken = loan.broken()
    if (broken !== undefined) throw broken
    await loan.end()
    const result = JSON.stringify(value) as string | undefined
    if (result !== undefined) await store.inbox.update(tx, [{ handler, key, state: 'processed', result }])
    return { status: 'processed', value: parsed(result) }
  } finally {
    // After a failure everything is undone anyway.
    loan.end()?.catch(() => {})
  }
}

function repeated<Value>(
  record: InboxRecord,
  fingerprint: Uint8Array | undefined,
  handler: string,
  key: string,
): OnceOutcome<Value> {
  if (!sameFingerprint(record.fingerprint, fingerprint)) {
    throw new JustonceError('KEY_REUSED', {
      message: `once() was called with the key ${key} of handler ${handler} and different content at ${record.processedAt.toISOString()}.`,
    })
  }
  if (record.state === 'parked') return { status: 'parked' }
  return { status: 'duplicate', value: parsed(record.result), processedAt: record.processedAt }
}

function parsed<Value>(result: string | undefined): Value {
  return result === undefined ? (undefined as Value) : JSON.parse(result)
}

function notAfterJoining(): never {
  throw new JustonceError('OPTION_INVALID', {
    message: 'afterCommit() cannot be used with store.within(tx): only the caller knows when that transaction commits.',
  })
}
