import type { Clock, Events, Retention, Store } from '../contracts/index.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import { leasesOf } from '../facts/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'

export interface MaintainerOptions {
  /** Records of ids with a time are removed when their message is older than this. If not given, never. */
  readonly keepMs: number | undefined
  /** The same for ids without a time, measured from when they were processed. */
  readonly keepTimelessMs: number | undefined
  /** No id of this app has a time: no room need be prepared. */
  readonly isTimeless?: boolean | undefined
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
type Surroundings = { readonly clock: Clock; readonly events: Events; readonly gate?: Gate }

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
  readonly #toldOfRights = new Set<string>()

  constructor(store: Maintained, { clock, events }: Surroundings, options: MaintainerOptions) {
    this.#store = store
    this.#clock = clock
    this.#events = events
    this.#options = options
  }

  async maintainIfElected(signal: AbortSignal): Promise<void> {
    const leases = leasesOf(this.#store, 'duty')
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
    const { keepMs, keepTimelessMs, isTimeless } = this.#options
    if (!isTimeless)
      await this.#ifAllowed('prepare room for the records of the next two weeks', () => retention.prepare(aheadMs))
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
      const step = await this.#ifAllowed('remove old records', () =>
        retention.remove({ bornBefore, timelessBefore, budgetMs: stepMs }),
      )
      if (step === undefined) return
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

  /** A role that may only read and write rows leaves this to the owner of the tables. That is said once, and is no failure. */
  async #ifAllowed<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!isDenied(error)) throw error
      if (this.#toldOfRights.has(what)) return undefined
      this.#toldOfRights.add(what)
      const { code, message } = new JustonceError('OWNER_NEEDED', {
        message: `This app may not ${what}. The database says: ${saidBy(error)}.`,
      })
      this.#events.emit({ kind: 'warning', code, message })
      return undefined
    }
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

function isDenied(error: unknown): boolean {
  return isJustonceError(error, 'STORE_DENIED') || isJustonceError(error, 'PARTITION_MISSING')
}

/** What the database itself has said, without our advice to grant rights: an app is meant not to have these. */
function saidBy(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
