import { hostname } from 'node:os'
import process from 'node:process'
import type { Clock, Events, Facts, JustonceEvent, TransportNotice } from '../contracts/index.ts'
import {
  listPauses,
  minuteFact,
  minuteMs,
  nameOfDuplicates,
  nameOfReport,
  type Pause,
  type ProcessReport,
  packReport,
  type ReceivedReport,
  receivedReport,
  timeOfRevision,
} from '../facts/index.ts'
import { uuidv7 } from '../ids/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { Counter } from './counter.ts'
import { MinutesToSave } from './minutes-to-save.ts'
import { OwnFacts } from './own-facts.ts'
import { RecentDuplicates } from './recent-duplicates.ts'

/** A call that is running now; `since` is monotonic. */
export type CallNow = Omit<ProcessReport['running'][number], 'since'> & { readonly since: number }

/** What a heartbeat tells of, and whom it tells what operators want. */
export interface Reported {
  about(): Pick<
    ProcessReport,
    'app' | 'version' | 'duties' | 'sources' | 'destinations' | 'handlers' | 'brokers' | 'trouble' | 'pool'
  >
  running(limit: number): { readonly count: number; readonly calls: readonly CallNow[] }
  obey(pauses: readonly Pause[]): void
}

export interface HeartbeatOptions {
  readonly everyMs: number
  /** How long the counts of each minute are kept. */
  readonly keptMs: number
}

interface Surroundings {
  readonly store: { readonly facts: Facts<never> }
  readonly clock: Clock
  readonly events: Events
}

const mostRunning = 50
/** More would make every beat larger; the first ones are those of the start. */
const mostWarnings = 20
/** A process that has missed this many beats is taken for dead. */
const beatsToLive = 6
const sweepEveryMs = 600_000

/**
 * Every few seconds one small write says that this process is alive, what it is running and what it has done, and one small
 * read says what operators have paused. What a process says expires by itself if the process dies.
 */
export class Heartbeat {
  readonly id: string
  readonly #surroundings: Surroundings
  readonly #reported: Reported
  readonly #options: HeartbeatOptions
  readonly #counter: Counter
  readonly #minutes: MinutesToSave
  readonly #duplicates: RecentDuplicates
  readonly #own: OwnFacts
  readonly #warnings = new Map<string, TransportNotice>()
  readonly #startedAt: Date
  /** How far the database's clock is ahead of ours. */
  #databaseAheadMs = 0
  #sweepAt: number
  #loop: Loop | undefined

  constructor(surroundings: Surroundings, reported: Reported, options: HeartbeatOptions) {
    const { clock, store } = surroundings
    this.#surroundings = surroundings
    this.#reported = reported
    this.#options = options
    this.#startedAt = clock.now()
    this.id = uuidv7(this.#startedAt.getTime())
    this.#counter = new Counter(clock.monotonicMs(), options.everyMs * 3)
    this.#minutes = new MinutesToSave(this.#counter, this.id)
    this.#duplicates = new RecentDuplicates(clock)
    this.#own = new OwnFacts(store.facts)
    this.#sweepAt = clock.monotonicMs() + sweepEveryMs * clock.random()
  }

  /** The handlers that are paused must not get a message before the first beat. */
  async prepare(): Promise<void> {
    this.#reported.obey(await listPauses(this.#surroundings.store))
  }

  start(gate: Gate): void {
    const { everyMs } = this.#options
    const afterFailure = { leastMs: everyMs, mostMs: everyMs * beatsToLive }
    this.#loop = new Loop({ ...this.#surroundings, name: 'heartbeat', gate, round: () => this.#beat(), afterFailure })
    this.#loop.start()
  }

  /** Operators have changed something: the next beat comes now. */
  wake(): void {
    this.#loop?.wake()
  }

  /** Removes the report, so that nobody takes the process for alive, and saves what was counted. */
  async stop(): Promise<void> {
    await this.#loop?.stop()
    const { facts } = this.#surroundings.store
    this.#counter.look(this.#surroundings.clock.monotonicMs())
    try {
      await this.#own.save([...this.#minutesToSave(true), ...this.#duplicatesToSave(true)])
      await facts.remove(undefined, [nameOfReport(this.id)])
    } catch {
      // The report expires by itself, and a minute of counts is no reason to fail.
    }
  }

  heard(event: JustonceEvent): void {
    this.#counter.heard(event)
    if (event.kind === 'warning' && this.#warnings.size < mostWarnings)
      this.#warnings.set(event.message, { code: event.code, message: event.message })
    if (event.kind === 'duplicate') this.#duplicates.saw(event, this.#databaseNow())
  }

  /** What the next beat would say. A handler may have the only connection of the store, so that the beat has to wait for it. */
  current(): ReceivedReport {
    const { clock } = this.#surroundings
    const recent = this.#counter.look(clock.monotonicMs())
    const reportedAt = new Date(this.#databaseNow())
    return receivedReport(this.#report(recent), clock.now(), reportedAt)
  }

  async #beat(): Promise<number> {
    const { store, clock } = this.#surroundings
    const { everyMs } = this.#options
    this.#reported.obey(await listPauses(store))
    const recent = this.#counter.look(clock.monotonicMs())
    const minutes = this.#minutesToSave()
    const sentAt = clock.now()
    const value = packReport(this.#report(recent), sentAt)
    const report = { name: nameOfReport(this.id), value, forMs: everyMs * beatsToLive }
    const [revision] = await this.#own.save([report, ...minutes, ...this.#duplicatesToSave()])
    for (const { name } of minutes) this.#own.forget(name)
    this.#minutes.saved()
    if (revision !== undefined) this.#databaseAheadMs = timeOfRevision(revision).getTime() - sentAt.getTime()
    await this.#sweepNowAndThen()
    return everyMs
  }

  #report(recent: ProcessReport['recent']): ProcessReport {
    const { clock } = this.#surroundings
    const { count, calls } = this.#reported.running(mostRunning)
    const now = clock.now().getTime()
    const monotonic = clock.monotonicMs()
    const minuteBegan = Math.floor(this.#databaseNow() / minuteMs) * minuteMs - this.#databaseAheadMs
    return {
      id: this.id,
      ...this.#reported.about(),
      warnings: [...this.#warnings.values()],
      host: hostname(),
      pid: process.pid,
      node: process.version,
      startedAt: this.#startedAt,
      running: calls.map((call) => ({ ...call, since: new Date(now - (monotonic - call.since)) })),
      runningCount: count,
      minute: { at: new Date(minuteBegan), counts: this.#counter.minute },
      recent,
    }
  }

  /** The time by the database's clock, as far as the last beat has shown. */
  #databaseNow(): number {
    return this.#surroundings.clock.now().getTime() + this.#databaseAheadMs
  }

  #minutesToSave(isLast = false) {
    const over = this.#minutes.over(this.#databaseNow(), { isLast })
    return over.map((minute) => minuteFact(minute, this.#options.keptMs))
  }

  #duplicatesToSave(isLast = false) {
    const value = this.#duplicates.toSave({ isLast })
    return value === undefined ? [] : [{ name: nameOfDuplicates(this.id), value, forMs: this.#options.keptMs }]
  }

  /** What has expired is removed by whichever process comes to it first. */
  async #sweepNowAndThen(): Promise<void> {
    const { store, clock } = this.#surroundings
    if (clock.monotonicMs() < this.#sweepAt) return
    this.#sweepAt = clock.monotonicMs() + sweepEveryMs * (1 + clock.random())
    for (const expiredOf of ['process', 'minute', 'duplicates', 'pause'])
      await store.facts.remove(undefined, { expiredOf })
  }
}
