import type { IncomingMessage, OutgoingMessage } from '../../../src/contracts/index.ts'
import type { Scheduler } from '../scheduler.ts'

/** One consumer of the group, as the log sees it. */
export interface LogSession {
  readonly partitions: Set<number>
  assigned(partitions: readonly number[]): void
  lose(why: string): void
}

export interface LogPartition {
  readonly messages: IncomingMessage[]
  committed: number
  /** A note beside what is committed: where reading began that keeps its positions in a store. */
  since?: number
}

/**
 * A log of partitions, as Kafka has them: messages of a key are in one partition, each partition is read in order by one
 * consumer of the group at a time, and nothing is ever taken out. What was committed is where the next owner begins.
 */
export class SimLog {
  readonly scheduler: Scheduler
  readonly published = new Map<string, { count: number; readonly message: OutgoingMessage }>()
  readonly partitions: LogPartition[] = Array.from({ length: 3 }, () => ({ messages: [], committed: 0 }))
  readonly #firstSent = new Map<string, number>()
  readonly #sessions = new Set<LogSession>()
  readonly #news = new Set<() => void>()
  #sequence = 0
  #down = false

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler
  }

  get isDown(): boolean {
    return this.#down
  }

  firstSent(id: string): number {
    return this.#firstSent.get(id) ?? Number.NaN
  }

  /** `handled` says how far a partition was handled, where that is kept elsewhere; undefined: the group says so. */
  isEmpty(handled?: (partition: number) => number): boolean {
    return this.partitions.every(
      ({ messages, committed }, partition) => (handled?.(partition) ?? committed) >= messages.length,
    )
  }

  send(message: IncomingMessage): void {
    const { id = '', key = id } = message
    if (!this.#firstSent.has(id)) this.#firstSent.set(id, this.#sequence)
    this.#sequence++
    const spread = [...key].reduce((sum, character) => sum + character.charCodeAt(0), 0)
    this.partitions[spread % this.partitions.length]?.messages.push(message)
    for (const tell of [...this.#news]) tell()
  }

  onNews(tell: () => void): void {
    this.#news.add(tell)
  }

  join(session: LogSession, tell: () => void): void {
    this.#sessions.add(session)
    this.#news.add(tell)
    this.#rebalance()
  }

  leave(session: LogSession, tell: () => void): void {
    this.#news.delete(tell)
    if (this.#sessions.delete(session)) this.#rebalance()
  }

  /** Only who has the partition may say how far it is; a broker refuses others by their generation. */
  commit(session: LogSession, partition: number, next: number): void {
    const log = this.partitions[partition]
    if (log !== undefined && session.partitions.has(partition)) log.committed = Math.max(log.committed, next)
  }

  restart(downMs: number): void {
    if (this.#down) return
    this.scheduler.note('broker', `RESTARTS, down for ${downMs} ms`)
    this.#down = true
    for (const session of [...this.#sessions]) session.lose('broker restarts')
    this.scheduler.after(downMs, () => {
      this.#down = false
      this.scheduler.note('broker', 'IS BACK')
    })
  }

  /** Everything is given out anew; who keeps a partition keeps it without noticing. */
  #rebalance(): void {
    const sessions = [...this.#sessions]
    const fresh = new Map<LogSession, number[]>()
    for (const [partition] of this.partitions.entries()) {
      const owner = sessions[partition % Math.max(1, sessions.length)]
      for (const session of sessions) if (session !== owner) session.partitions.delete(partition)
      if (owner === undefined || owner.partitions.has(partition)) continue
      owner.partitions.add(partition)
      fresh.set(owner, [...(fresh.get(owner) ?? []), partition])
    }
    for (const [session, partitions] of fresh) session.assigned(partitions)
  }
}
