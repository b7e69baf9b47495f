import type { Clock, Events, Retention, Store } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { leasesOf } from '../facts/index.ts'
import { Loop } from '../loops/loop.ts'

export interface MaintainerOptions {
  /** Records of ids with a time are removed when their message is older than this. If not given, never. */
  readonly keepMs: number | undefined
  /** The same for ids without a time, measured from when they were processed. */
  readonly keepTimelessMs: number | undefined
}

const leaseName = 'maintenance'
const leaseMs = 60_000
const restMs = 60_000
/** Records are removed in small steps with pauses, so that handlers hardly notice it. */
const stepMs = 100
const pauseMs = 200
/** How far ahead room for records is prepared, in case no process does maintenance for a while. */
const aheadMs = 14 * 86_400_000
/** Nothing is removed that a transaction might still be claiming by the horizon that it has read. */
const graceMs = 3_600_000

type Maintained = Pick<Store, 'facts'> & { readonly retention: Retention }
type Surroundings = { readonly clock: Clock; readonly events: Events }

/** Keeps the store tidy. Every process runs one, and a lease decides which one works. */
export function maintainer(store: Maintained, surroundings: Surroundings, options: MaintainerOptions): Loop {
  const { clock } = surroundings
  const rounds = new Rounds(store, surroundings, options)
  return new Loop({
    ...surroundings,
    name: 'maintenance',
    async round(signal) {
      await rounds.maintainIfElected(signal)
      return restMs * (0.5 + clock.random())
    },
    afterFailure: { leastMs: restMs, mostMs: restMs },
  })
}

class Rounds {
  readonly #store: Maintained
  readonly #clock: Clock
  readonly #events: Events
  readonly #options: MaintainerOptions
  /** The database's time when this process last raised the horizon, and the same moment by the monotonic clock. */
  #believed: { readonly now: Date; readonly at: number } | undefined
  #hasTold = false

  constructor(store: Maintained, { clock, events }: Surroundings, options: MaintainerOptions) {
    this.#store = store
    this.#clock = clock
    this.#events = events
    this.#options = options
  }

  async maintainIfElected(signal: AbortSignal): Promise<void> {
    const leases = leasesOf(this.#store)
    const lease = await leases.acquire(leaseName, leaseMs)
    if (lease === undefined) return
    try {
      await this.#maintain(signal, () => leases.renew(leaseName, lease.fence, leaseMs))
    } finally {
      // The lease also expires by itself, and an earlier error is the one to report.
      await leases.release(leaseName, lease.fence).catch(() => {})
    }
  }

  async #maintain(signal: AbortSignal, renew: () => Promise<boolean>): Promise<void> {
    const { retention } = this.#store
    const { keepMs, keepTimelessMs } = this.#options
    await retention.prepare(aheadMs)
    if (keepMs === undefined) return
    // This comes first and is committed: from here on, no process takes a message from before the horizon for a new one.
    const { horizon, now, doubt } = await retention.raise(keepMs, this.#steadyNow())
    if (doubt !== undefined || horizon === undefined) return this.#tellOfDoubt(now, doubt?.seen)
    this.#believed = { now, at: this.#clock.monotonicMs() }
    this.#hasTold = false
    const bornBefore = new Date(horizon.getTime() - graceMs)
    const timelessBefore = keepTimelessMs === undefined ? undefined : new Date(now.getTime() - keepTimelessMs)
    for (let more = true; more && !signal.aborted; ) {
      if (!(await renew())) return
      const step = await retention.remove({ bornBefore, timelessBefore, budgetMs: stepMs })
      if (step.removed > 0) this.#events.emit({ kind: 'retained', removed: step.removed, horizon })
      more = step.more
      if (more) await this.#clock.sleep(pauseMs, signal)
    }
  }

  /** What the database's clock should say now. */
  #steadyNow(): Date | undefined {
    if (this.#believed === undefined) return undefined
    const { now, at } = this.#believed
    return new Date(now.getTime() + this.#clock.monotonicMs() - at)
  }

  #tellOfDoubt(now: Date, seen: Date | undefined): void {
    if (this.#hasTold) return
    this.#hasTold = true
    const { code, message } = new JustonceError('CLOCK_JUMPED', {
      message: `The database's clock says ${now.toISOString()}; when last read, it said ${seen?.toISOString()}. No records are removed by the new time until the clock has run on from there for a while.`,
    })
    this.#events.emit({ kind: 'warning', code, message })
  }
}
