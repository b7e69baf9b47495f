import { inTime } from '../clock/index.ts'
import type { Clock, Events, FactChange, Store } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import {
  type AlertEpisode,
  type AlertIdentity,
  databaseNow,
  leasesOf,
  nameOfAlert,
  packEpisode,
  unpackEpisode,
} from '../facts/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { decideEpisode } from './decide-episode.ts'
import type { Measured } from './measure.ts'
import { noticeOf } from './notice.ts'
import type { AlertNotice, AlertRule } from './rule.ts'

export interface AlerterParts {
  readonly store: Pick<Store, 'facts' | 'transaction'>
  readonly clock: Clock
  readonly events: Events
  readonly gate?: Gate
  readonly app: string | undefined
  readonly rules: readonly AlertRule[]
  measure(now: number): Promise<Measured>
  /** Stores an intent to call the webhook of the rule, in the transaction. */
  intend(tx: unknown, rule: AlertRule, notice: AlertNotice): Promise<unknown>
}

const everyMs = 15_000
/** Longer than a round with functions that hang. */
const leaseMs = 60_000
const notifyWithinMs = 10_000
const mostAttempts = 5
/** An episode that nobody has looked at for a day is forgotten: its rule was removed, or everything stood still. */
const keptMs = 86_400_000

interface Kept {
  readonly rule: AlertRule
  readonly name: string
  readonly episode: AlertEpisode
  readonly revision: number
}

/** Looks at the rules of an app every few seconds, in one elected process, and tells once of each beginning and each end. */
export class Alerter {
  readonly #rounds: Rounds
  readonly #loop: Loop

  constructor(parts: AlerterParts) {
    const { clock, events, gate } = parts
    const rounds = new Rounds(parts)
    this.#rounds = rounds
    this.#loop = new Loop({
      ...{ name: 'alerts', clock, events, ...(gate && { gate }) },
      async round() {
        await rounds.lookIfElected()
        return everyMs * (0.9 + clock.random() / 5)
      },
      afterFailure: { leastMs: everyMs, mostMs: everyMs },
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    // Another process need not wait for the end of the lease; if this fails, it does.
    await this.#rounds.resign().catch(() => {})
  }
}

class Rounds {
  readonly #parts: AlerterParts
  readonly #identities: ReadonlyMap<AlertRule, AlertIdentity>
  readonly #lease: string
  #fence: number | undefined

  constructor(parts: AlerterParts) {
    this.#parts = parts
    const { rules, app } = parts
    this.#identities = new Map(
      rules.map((rule) => [rule, { app, rule: rule.name, when: rule.when, over: rule.over, forMs: rule.forMs }]),
    )
    // Processes with other rules, of another app or another version, look for themselves.
    const all = rules.map((rule) => this.#nameOf(rule)).join()
    this.#lease = nameOfAlert({ app, rule: all, when: 'lease', over: 0, forMs: 0 })
  }

  /** Elected is who has the lease, and keeps it from round to round. */
  async lookIfElected(): Promise<void> {
    const { store } = this.#parts
    const leases = leasesOf(store, 'duty')
    if (this.#fence !== undefined && !(await leases.renew(this.#lease, this.#fence, leaseMs))) this.#fence = undefined
    this.#fence ??= (await leases.acquire(this.#lease, leaseMs))?.fence
    if (this.#fence === undefined) return
    const now = (await databaseNow(store)).getTime()
    await this.#look(now, await this.#parts.measure(now))
  }

  async resign(): Promise<void> {
    if (this.#fence !== undefined) await leasesOf(this.#parts.store, 'duty').release(this.#lease, this.#fence)
    this.#fence = undefined
  }

  async #look(now: number, measured: Measured): Promise<void> {
    const { store, rules } = this.#parts
    const found = await store.facts.read(rules.map((rule) => this.#nameOf(rule)))
    const kept = await Promise.all(
      rules.map(async (rule, place) => {
        const before = unpackEpisode(found[place]?.value)
        const look = { value: measured(rule), now, mostMs: 2 * everyMs }
        const after = decideEpisode(this.#identities.get(rule) as AlertIdentity, before, look)
        return await this.#keep(rule, found[place]?.revision, after)
      }),
    )
    await Promise.all(kept.map((each) => (each === undefined ? undefined : this.#tell(each))))
  }

  /** `undefined` if there is nothing to keep, or another process was faster. */
  async #keep(rule: AlertRule, from: number | undefined, episode: AlertEpisode | undefined): Promise<Kept | undefined> {
    const name = this.#nameOf(rule)
    if (episode === undefined) {
      if (from !== undefined) await this.#parts.store.facts.change(undefined, [{ name, from, value: '', forMs: 0 }])
      return undefined
    }
    if (typeof rule.notify === 'object') return await this.#intend(rule, from, episode)
    const revision = await this.#change({ name, from, value: packEpisode(episode), forMs: keptMs })
    return revision === undefined ? undefined : { rule, name, episode, revision }
  }

  /** The intents and what the store knows of the episode are one transaction, so that each notice is sent once. */
  async #intend(rule: AlertRule, from: number | undefined, episode: AlertEpisode): Promise<undefined> {
    const { store, intend } = this.#parts
    const name = this.#nameOf(rule)
    const notices = episode.notices.map((due) => noticeOf(name, episode, due))
    const change = { name, from, value: packEpisode({ ...episode, notices: [] }), forMs: keptMs }
    if (notices.length === 0) {
      await this.#change(change)
      return
    }
    const isDone = await store.transaction(async (tx) => {
      const [revision] = await store.facts.change(tx, [change])
      if (revision === undefined) return false
      for (const notice of notices) await intend(tx, rule, notice)
      return true
    })
    if (isDone) for (const notice of notices) this.#emit(notice)
  }

  /** Tells of one notice after the other. One that fails is given again in the next round. */
  async #tell({ rule, name, episode, revision }: Kept): Promise<void> {
    const [due, ...others] = episode.notices
    if (due === undefined) return
    // Every attempt was begun, and no process has come back to say how it ended.
    if (due.attempts >= mostAttempts) {
      const gone = new Error('each process has ended while it ran')
      return await this.#next({ rule, name, episode, revision }, noticeOf(name, episode, due), gone)
    }
    const begun = { ...episode, notices: [{ ...due, attempts: due.attempts + 1 }, ...others] }
    const from = await this.#change({ name, from: revision, value: packEpisode(begun), forMs: keptMs })
    if (from === undefined) return
    const notice = noticeOf(name, episode, due)
    const error = await this.#notify(rule, notice)
    if (error !== undefined && due.attempts + 1 < mostAttempts) return this.#failed(notice, error, due.attempts + 1)
    await this.#next({ rule, name, episode, revision: from }, notice, error)
  }

  /** Whether it was given or given up: the next one is told, if there is any. */
  async #next({ rule, name, episode, revision: from }: Kept, notice: AlertNotice, error: unknown): Promise<void> {
    const rest = { ...episode, notices: episode.notices.slice(1) }
    const revision = await this.#change({ name, from, value: packEpisode(rest), forMs: keptMs })
    if (error !== undefined && revision !== undefined) this.#failed(notice, error, mostAttempts)
    if (revision !== undefined) await this.#tell({ rule, name, episode: rest, revision })
  }

  /** Resolves to what went wrong. */
  async #notify({ notify }: AlertRule, notice: AlertNotice): Promise<unknown> {
    const { clock } = this.#parts
    try {
      const told = (async () => {
        if (typeof notify === 'function') await notify(notice)
        return true
      })()
      const isTold = await inTime(told, { clock, withinMs: notifyWithinMs })
      if (isTold === undefined) return new Error(`notify has not ended within ${notifyWithinMs} ms`)
      this.#emit(notice)
      return undefined
    } catch (error) {
      return error ?? new Error('notify has thrown nothing')
    }
  }

  #emit({ rule, state, value, text }: AlertNotice): void {
    this.#parts.events.emit({ kind: 'alert', rule, state, value, text })
  }

  #failed({ rule, state }: AlertNotice, cause: unknown, attempts: number): void {
    const next = attempts < mostAttempts ? 'it is tried again' : 'it is given up'
    const said = cause instanceof Error ? cause.message : cause
    const error = new Error(`notify of the alert ${rule} (${state}) failed, ${next}: ${anyText(said)}`, { cause })
    this.#parts.events.emit({ kind: 'loop-failed', loop: 'alerts', error })
  }

  async #change(change: FactChange): Promise<number | undefined> {
    return (await this.#parts.store.facts.change(undefined, [change]))[0]
  }

  #nameOf(rule: AlertRule): string {
    return nameOfAlert(this.#identities.get(rule) as AlertIdentity)
  }
}
