import { systemClock } from '../clock/index.ts'
import type { Clock, Leases } from '../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../errors/index.ts'

export interface LeaseOptions {
  /** After so long without a sign of life the lease is free again. 30 s if not given. */
  readonly leaseMs?: number
  /** How long to wait for one that somebody has. Not at all if not given. */
  readonly waitMs?: number
  readonly clock?: Clock
}

export type LeaseOutcome<Value> = { readonly status: 'done'; readonly value: Value } | { readonly status: 'busy' }

const pollMs = 200

/**
 * Runs the work while holding a named lease, so that among all processes only one does it at a time.
 * A lease cannot stop a process that is frozen and wakes up late: give `fence`, which only grows, to whatever the work
 * writes to, and let that refuse smaller ones.
 *
 * ```ts
 * await withLease(store, `order ${id}`, { leaseMs: 10_000 }, async (signal, fence) => { … })
 * ```
 */
export async function withLease<Value>(
  store: { readonly leases: Leases },
  name: string,
  options: LeaseOptions,
  work: (signal: AbortSignal, fence: number) => Promise<Value>,
): Promise<LeaseOutcome<Value>> {
  checkOptions(options, ['leaseMs', 'waitMs', 'clock'], 'withLease()')
  const { leaseMs = 30_000, waitMs = 0, clock = systemClock } = options
  checkNumber(leaseMs, 'leaseMs', 10)
  checkNumber(waitMs, 'waitMs', 0)
  if (typeof name !== 'string' || name.length === 0 || name.length > 200) {
    throw new JustonceError('OPTION_INVALID', { message: `The name of a lease is ${JSON.stringify(name)}.` })
  }
  const { leases } = store
  const lease = await acquire(leases, name, { leaseMs, waitMs, clock })
  if (lease === undefined) return { status: 'busy' }
  const { fence, endsAt } = lease
  const lost = new AbortController()
  const over = new AbortController()
  const renewing = renew(leases, { name, fence, endsAt, leaseMs, clock, lost, over: over.signal })
  try {
    const value = await work(lost.signal, fence)
    lost.signal.throwIfAborted()
    return { status: 'done', value }
  } finally {
    over.abort()
    await renewing
    // Only ever our own; one that was lost is not ours any more.
    await leases.release(name, fence).catch(() => {})
  }
}

async function acquire(
  leases: Leases,
  name: string,
  { leaseMs, waitMs, clock }: { readonly leaseMs: number; readonly waitMs: number; readonly clock: Clock },
): Promise<{ readonly fence: number; readonly endsAt: number } | undefined> {
  const givesUpAt = clock.monotonicMs() + waitMs
  for (;;) {
    // Counted from before the question: the database began to count before we had the answer.
    const endsAt = clock.monotonicMs() + leaseMs
    const lease = await leases.acquire(name, leaseMs)
    if (lease !== undefined) return { fence: lease.fence, endsAt }
    const leftMs = givesUpAt - clock.monotonicMs()
    if (leftMs <= 0) return undefined
    await clock.sleep(Math.min(pollMs, leftMs))
  }
}

interface Renewal {
  readonly name: string
  readonly fence: number
  readonly endsAt: number
  readonly leaseMs: number
  readonly clock: Clock
  readonly lost: AbortController
  readonly over: AbortSignal
}

/** A third of the time, so that one failed renewal does not lose it. What cannot be renewed in time is lost. */
async function renew(leases: Leases, { name, fence, leaseMs, clock, lost, over, ...given }: Renewal): Promise<void> {
  let { endsAt } = given
  while (!over.aborted) {
    await clock.sleep(leaseMs / 3, over)
    if (over.aborted) return
    const askedAt = clock.monotonicMs()
    const answer = await Promise.race([
      leases.renew(name, fence, leaseMs).catch(() => 'unknown' as const),
      // A store that does not answer must not keep us from seeing that the time is up.
      clock.sleep(endsAt - askedAt, over),
    ])
    if (over.aborted) return
    if (answer === true) endsAt = askedAt + leaseMs
    if (answer === false || clock.monotonicMs() >= endsAt) {
      lost.abort(new JustonceError('LEASE_LOST', { message: `The lease ${JSON.stringify(name)} was lost.` }))
      return
    }
  }
}
