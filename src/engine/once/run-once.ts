import type {
  AfterJson,
  Events,
  Inbox,
  InboxRecord,
  JoinedStore,
  Loan,
  LoanOptions,
  Store,
} from '../../contracts/index.ts'
import { fingerprintOf, sameFingerprint } from '../../encoding/fingerprint.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { withCallTimer } from '../calls/call-timer.ts'
import { CallProducts, type PublishingSite } from '../calls/run-context.ts'
import { TimeLimit } from '../calls/time-limit.ts'
import type { Engine, Outlet } from '../engine.ts'
import type { CallContext } from '../handler.ts'
import type { OnceKey, OnceOutcome } from './once.ts'

/** What a call of `once` needs. */
export interface OnceSite<Tx> extends Pick<Engine<Tx>, 'clock' | 'schemaOf' | 'codecOf' | 'hooks'> {
  readonly store: Store<Tx>
  readonly events: Pick<Events, 'emit'>
  readonly outlet: Pick<Outlet<Tx>, 'check' | 'store' | 'committed'>
}

type Work<Tx, Value> = (tx: Tx, context: CallContext) => Promise<Value> | Value

/** The same as the default time limit of a handler. */
const defaultTimeoutMs = 30_000

export async function onceInOwnTransaction<Tx, Value>(
  site: OnceSite<Tx>,
  key: OnceKey,
  work: Work<Tx, Value>,
): Promise<OnceOutcome<Value>> {
  const { store, outlet, hooks } = site
  const { handler, waitMs = 10_000, timeoutMs = defaultTimeoutMs } = key
  for (let lostCommits = 0; ; ) {
    const products = productsOf(site, key, store.guarantee === 'lease')
    const abort = new AbortController()
    let claimed = false
    const worked: Work<Tx, Value> = (tx, context) => {
      claimed = true
      return work(tx, context)
    }
    const options = {
      lockTimeoutMs: waitMs,
      giveUpAfterMs: waitMs,
      // A holder that is silent for longer than the work may take is frozen or dead.
      idleTimeoutMs: timeoutMs + 10_000,
      statementTimeoutMs: Math.max(timeoutMs, waitMs) + 1_000,
      signal: abort.signal,
    }
    try {
      const outcome = await store.transaction(
        (tx) =>
          claimAndRun({ site, store, products, cutOff: (error) => abort.abort(error) }, tx, key, worked, () =>
            outlet.store(tx, products.outgoing),
          ),
        options,
      )
      if (products.outgoing.length > 0) outlet.committed(products.outgoing)
      // The work is committed, whatever the hooks do: their failures are reported, but do not change the outcome.
      await hooks.start({ name: handler, timeoutMs }, products.afterCommit)
      return outcome
    } catch (error) {
      // Claiming again waits for our own lost transaction, and shows whether it committed.
      if (isJustonceError(error, 'COMMIT_UNKNOWN') && lostCommits++ < 3) continue
      if (!claimed && store.classify(error) === 'conflict') return { status: 'busy' }
      throw error
    }
  }
}

export async function onceJoined<Tx, Value>(
  site: Pick<OnceSite<Tx>, 'clock' | 'events' | 'schemaOf' | 'codecOf'>,
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
  /** Nobody knows what the work still has in progress, so its connection must not be used again. */
  cutOff(error: Error): void
}

async function claimAndRun<Tx, Value>(
  { site, store, products, cutOff }: Running<Tx>,
  tx: Tx,
  given: OnceKey,
  work: Work<Tx, Value>,
  keepOutgoing?: () => Promise<void>,
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
  return await withCallTimer(site.clock, async (timer) => {
    const time = new TimeLimit(site.clock, timer, { handler: { name: handler, timeoutMs }, key })
    try {
      const value = await time.within((async () => await work(loan.tx, products.contextFor({}, time)))())
      // Calls that were not awaited may send more.
      let open = loan.settled()
      do {
        await time.within(Promise.all([open, products.checked()]))
        open = loan.settled()
      } while (open !== undefined || products.isChecking)
      if (time.isUp) throw time.error
      if (products.failure !== undefined) throw products.failure.error
      const { broken, tidied } = loan.end()
      if (broken !== undefined) throw broken
      await tidied
      const result = JSON.stringify(value) as string | undefined
      if (products.outgoing.length > 0) await keepOutgoing?.()
      if (result !== undefined) await store.inbox.update(tx, [{ handler, key, state: 'processed', result }])
      return { status: 'processed', value: parsed(result) }
    } catch (error) {
      if (time.error === undefined) throw error
      cutOff(time.error)
      throw time.error
    } finally {
      products.end()
      // After a failure everything is rolled back anyway.
      loan.end().tidied?.catch(() => {})
      time.stop()
    }
  })
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
