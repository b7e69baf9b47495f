import type {
  AfterJson,
  Events,
  Inbox,
  InboxRecord,
  JoinedStore,
  LastWrites,
  Loan,
  LoanOptions,
  Store,
} from '../../contracts/index.ts'
import { fingerprintOf, sameFingerprint } from '../../encoding/fingerprint.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { CallProducts, type PublishingSite } from '../calls/run-context.ts'
import { TimeLimit } from '../calls/time-limit.ts'
import type { Engine, Outlet } from '../engine.ts'
import type { CallContext } from '../handler.ts'
import { intentsCommitted } from '../intending/intents-committed.ts'
import { type ClaimedIntents, claimIntents, noIntents, writeIntents } from '../intending/store-intents.ts'
import { isThenable } from '../is-thenable.ts'
import { lastWrite } from '../last-write.ts'
import type { OnceKey, OnceOutcome } from './once.ts'

/** What a call of `once` needs. */
export interface OnceSite<Tx>
  extends Pick<Engine<Tx>, 'clock' | 'schemaOf' | 'codecOf' | 'traceHeaders' | 'businessIdOf' | 'hooks' | 'wake'> {
  readonly limits: PublishingSite['limits']
  readonly effects: PublishingSite['effects']
  readonly store: Store<Tx>
  readonly events: Pick<Events, 'emit'>
  readonly outlet: Pick<Outlet<Tx>, 'check' | 'store' | 'committed'>
}

type Work<Tx, Value> = (tx: Tx, context: CallContext) => Promise<Value> | Value

/** The same as the default time limit of a handler. */
const defaultTimeoutMs = 30_000

/** How often a call starts anew after it has lost the answer to its commit, or a prepared statement. */
const mostRepeats = 5

export async function onceInOwnTransaction<Tx, Value>(
  site: OnceSite<Tx>,
  key: OnceKey,
  work: Work<Tx, Value>,
): Promise<OnceOutcome<Value>> {
  const { store, outlet, hooks } = site
  const { handler, waitMs = 10_000, timeoutMs = defaultTimeoutMs } = key
  let unsure: unknown
  for (let repeats = 0; ; ) {
    const products = productsOf(site, key, store.guarantee === 'lease')
    let wasCutOff = false
    let claimed = false
    const worked: Work<Tx, Value> = (tx, context) => {
      if (unsure !== undefined) throw unsure
      claimed = true
      return work(tx, context)
    }
    const options = {
      lockTimeoutMs: waitMs,
      giveUpAfterMs: waitMs,
      // A holder that is silent for longer than the work may take is frozen or dead.
      idleTimeoutMs: timeoutMs + 10_000,
      statementTimeoutMs: Math.max(timeoutMs, waitMs) + 1_000,
      isCutOff: () => wasCutOff,
    }
    const cutOff = (): void => {
      wasCutOff = true
    }
    let intended: ClaimedIntents = noIntents
    const keep = async (tx: Tx, lastWrites: LastWrites | undefined): Promise<void> => {
      if (products.intents.length > 0) intended = await claimIntents(store.inbox, tx, products.intents)
      if (products.outgoing.length > 0) await lastWrite(lastWrites, () => outlet.store(tx, products.outgoing))
      if (intended.rows.length > 0) await lastWrite(lastWrites, () => writeIntents(store, tx, intended))
    }
    try {
      const outcome = await store.transaction(
        (tx, lastWrites) =>
          claimAndRun({ site, store, products, lastWrites, cutOff }, tx, key, worked, () => keep(tx, lastWrites)),
        options,
      )
      if (products.outgoing.length > 0) outlet.committed(products.outgoing)
      intentsCommitted(site, intended)
      // The work is committed, whatever the hooks do: their failures are reported, but do not change the outcome.
      if (products.afterCommit.length > 0) await hooks.start({ name: handler, timeoutMs }, products.afterCommit)
      return outcome
    } catch (error) {
      // Claiming again waits for our own lost transaction, and shows whether it committed. Without a prepared statement, everything
      // was rolled back.
      const mayRepeat = isJustonceError(error, 'COMMIT_UNKNOWN') || isJustonceError(error, 'STATEMENT_LOST')
      if (unsure !== undefined) throw unsure
      // Work that is done elsewhere cannot be rolled back: claiming again may show its record, and must not do it once more.
      if (mayRepeat && claimed && store.guarantee === 'lease') unsure = error
      if (mayRepeat && repeats++ < mostRepeats) continue
      const isRefused = isJustonceError(error, 'STORE_DENIED')
      if (!claimed && !isRefused && store.classify(error) === 'conflict') return { status: 'busy' }
      throw error
    }
  }
}

export async function onceJoined<Tx, Value>(
  site: Pick<OnceSite<Tx>, 'clock' | 'events' | 'schemaOf' | 'codecOf' | 'limits' | 'effects'>,
  store: JoinedStore<Tx>,
  key: OnceKey,
  work: Work<Tx, Value>,
): Promise<OnceOutcome<Value>> {
  const products = productsOf({ ...site, outlet: { check: () => {} } }, key, false)
  return await store.savepoint(() => claimAndRun({ site, store, products, cutOff: () => {} }, store.tx, key, work))
}

function productsOf(site: PublishingSite, { handler, key }: OnceKey, isRepeatable: boolean): CallProducts {
  return new CallProducts(site, { handler: { name: handler }, key, isRepeatable })
}

interface Running<Tx> {
  readonly site: Pick<OnceSite<Tx>, 'clock' | 'events'>
  readonly store: {
    setLockTimeout?(tx: Tx): Promise<void>
    readonly inbox: Inbox<Tx>
    lend(tx: Tx, options: LoanOptions): Loan<Tx>
  }
  readonly products: CallProducts
  readonly lastWrites?: LastWrites | undefined
  /** Called when the time is up: nobody knows what the work still has in progress. */
  cutOff(): void
}

async function claimAndRun<Tx, Value>(
  { site, store, products, lastWrites, cutOff }: Running<Tx>,
  tx: Tx,
  given: OnceKey,
  work: Work<Tx, Value>,
  keepProducts?: () => Promise<void>,
): Promise<OnceOutcome<Value>> {
  const { handler, key, content, waitMs, timeoutMs = defaultTimeoutMs } = given
  const fingerprint = content === undefined ? undefined : fingerprintOf(content)
  const { existing } = await store.inbox.claim(tx, [{ handler, key, fingerprint }])
  if (existing[0] !== undefined) return repeated(existing[0], fingerprint, handler, key)
  // The lock timeout so far was for another call with the same key. The work itself waits for its locks with the usual timeout.
  if (waitMs !== undefined) await store.setLockTimeout?.(tx)
  const loan = store.lend(tx, {
    borrower: handler,
    onLateCall: (error) => site.events.emit({ kind: 'late-call', handler, error }),
    records: [{ handler, key }],
  })
  const time = new TimeLimit(site.clock, { handler: { name: handler, timeoutMs }, key })
  try {
    const called = work(loan.tx, products.contextFor({}, time))
    const value = await (isThenable(called) ? time.within(called) : called)
    // Calls that were not awaited may send more.
    for (let open = loan.settled(); open !== undefined || products.isChecking; open = loan.settled())
      await time.within(Promise.all([open, products.checked()]))
    if (time.isUp) throw time.error
    if (products.failure !== undefined) throw products.failure.error
    const { broken, tidied } = loan.end()
    if (broken !== undefined) throw broken
    if (tidied !== undefined) await tidied
    const result = JSON.stringify(value) as string | undefined
    const change = { handler, key, state: 'processed', result, claimed: true } as const
    if (products.outgoing.length + products.intents.length > 0) await keepProducts?.()
    if (result !== undefined) await lastWrite(lastWrites, () => store.inbox.update(tx, [change]))
    return { status: 'processed', value: parsed(result) }
  } catch (error) {
    if (time.error === undefined) throw error
    cutOff()
    throw time.error
  } finally {
    products.end()
    // After a failure everything is rolled back anyway.
    loan.end().tidied?.catch(() => {})
    time.stop()
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

function parsed<Value>(result: string | undefined): AfterJson<Value> {
  return result === undefined ? (undefined as AfterJson<Value>) : JSON.parse(result)
}
