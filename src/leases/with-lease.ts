import { systemClock } from '../clock/index.ts'
import type { Clock, Facts } from '../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../errors/index.ts'
import { type Leases, leasesOf } from '../facts/index.ts'

/** What `withLease()` takes. */
export interface LeaseOptions {
  /** How long the lease lasts without a renewal before it is free again. Default: 30 s. */
  readonly leaseMs?: number
  /** How long to wait for a lease that another process holds. Default: not at all. */
  readonly waitMs?: number
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
}

/** `done` with the value if the lease was held to the end, `busy` if another process holds it. */
export type LeaseOutcome<Value> = { readonly status: 'done'; readonly value: Value } | { readonly status: 'busy' }

const pollMs = 200

/**
 * Runs the work while holding a named lease, so that only one process at a time does it.
 * Rejects with `LEASE_LOST` if the lease was no longer held when the work ended. A lease cannot stop a process that
 * freezes and wakes up late: pass `fence`, which only grows, to whatever the work writes to, and let that refuse smaller
 * ones.
 *
 * ```ts
 * await withLease(store, `order ${id}`, { leaseMs: 10_000 }, async (signal, fence) => { … })
 * ```
 */
export async function withLease<Value>(
  store: { readonly facts: Pick<Facts<never>, 'change'> },
  name: string,
  options: LeaseOptions,
  work: (signal: AbortSignal, fence: number) => Promise<Value>,
): Promise<LeaseOutcome<Value>> {
  checkOptions(options, ['leaseMs', 'waitMs', 'clock'], 'withLease()')
  const { leaseMs = 30_000, waitMs = 0, clock = systemClock } = options
  checkNumber(leaseMs, 'leaseMs', 10)
  checkNumber(waitMs, 'waitMs', 0)
  if (typeof name !== 'string' || name.length === 0 || name.length > 200 || name.includes('\0')) {
    throw new JustonceError('OPTION_INVALID', { message: `The name of a lease is ${JSON.stringify(name)}.` })
  }
  const leases = leasesOf(store)
  const lease = await acquire(leases, name, { leaseMs, waitMs, clock })
  if (lease === undefined) return { status: 'busy' }
  const held: Held = { name, leaseMs, clock, fence: lease.fence, endsAt: lease.endsAt }
  const lost = new AbortController()
  const over = new AbortController()
  const renewing = renew(leases, held, lost, over.signal)
  const end = async (): Promise<boolean> => {
    over.abort()
    await renewing
    return await release(leases, held)
  }
  try {
    const value = await work(lost.signal, held.fence)
    // A process that was frozen or busy may not have been able to see that the time was up.
    const isInTime = clock.monotonicMs() < held.endsAt
    const wasOurs = await end()
    lost.signal.throwIfAborted()
    if (!isInTime || !wasOurs) throw lostError(name)
    return { status: 'done', value }
  } finally {
    if (!over.signal.aborted) await end()
  }
}

/** What is known about a lease that we hold. */
interface Held {
  readonly name: string
  readonly fence: number
  readonly leaseMs: number
  readonly clock: Clock
  /** By the monotonic clock; moved forward when the lease is renewed. */
  endsAt: number
}

/**
 * Releases only our own lease. False if the store says that it was no longer ours, which our own clock cannot tell if the
 * machine has slept. Waits for an answer no longer than the lease lasts.
 */
async function release(leases: Leases, { name, fence, endsAt, clock }: Held): Promise<boolean> {
  const answered = new AbortController()
  const answer = await Promise.race([
    leases.release(name, fence).catch(() => 'unknown' as const),
    clock.sleep(endsAt - clock.monotonicMs(), answered.signal),
  ])
  answered.abort()
  return answer !== false
}

function lostError(name: string): JustonceError {
  return new JustonceError('LEASE_LOST', { message: `The lease ${JSON.stringify(name)} was lost.` })
}

async function acquire(
  leases: Leases,
  name: string,
  { leaseMs, waitMs, clock }: { readonly leaseMs: number; readonly waitMs: number; readonly clock: Clock },
): Promise<{ readonly fence: number; readonly endsAt: number } | undefined> {
  const givesUpAt = clock.monotonicMs() + waitMs
  for (;;) {
    // Measured from before the request, because the database starts counting before we have the answer.
    const endsAt = clock.monotonicMs() + leaseMs
    const lease = await leases.acquire(name, leaseMs)
    if (lease !== undefined) return { fence: lease.fence, endsAt }
    const leftMs = givesUpAt - clock.monotonicMs()
    if (leftMs <= 0) return undefined
    await clock.sleep(Math.min(pollMs, leftMs))
  }
}

/**
 * Renews after a third of the time, so that one failed renewal does not lose the lease. A lease that cannot be renewed
 * in time is lost.
 */
async function renew(leases: Leases, held: Held, lost: AbortController, over: AbortSignal): Promise<void> {
  const { name, fence, leaseMs, clock } = held
  while (!over.aborted) {
    await clock.sleep(leaseMs / 3, over)
    if (over.aborted) return
    const askedAt = clock.monotonicMs()
    const answer = await Promise.race([
      leases.renew(name, fence, leaseMs).catch(() => 'unknown' as const),
      // A store that does not answer must not keep us from seeing that the time is up.
      clock.sleep(held.endsAt - askedAt, over),
    ])
    if (over.aborted) return
    if (answer === true) held.endsAt = askedAt + leaseMs
    if (answer === false || clock.monotonicMs() >= held.endsAt) {
      lost.abort(lostError(name))
      return
    }
  }
}
