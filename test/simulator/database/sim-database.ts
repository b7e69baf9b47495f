import type { Scheduler } from '../scheduler.ts'
import { worldBegins } from '../timed-ids.ts'
import { Locks } from './locks.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { SimError } from './sim-error.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Visible {
  readonly key: string
  readonly row: Row
}

/**
 * A database server with the semantics that matter here: READ COMMITTED visibility, row locks that wait, deadlock
 * victims, lock timeouts, savepoints, aborted transactions, a seal, and commits that are all or nothing.
 */
export class SimDatabase {
  readonly scheduler: Scheduler
  readonly #committed = new Map<string, Row>()
  readonly #locks = new Locks()
  readonly #sessions = new Set<(why: string) => void>()
  #down = false
  #lastNumber = 0
  #starts = 0
  commits = 0
  /** Sees every commit just before it takes place. */
  onCommit: ((transaction: ServerTransaction) => void) | undefined

  readonly #begunAt: number
  #aheadMs = 0

  constructor(scheduler: Scheduler, begunAt = worldBegins) {
    this.scheduler = scheduler
    this.#begunAt = begunAt
  }

  /** The database's own clock: the only one that processes share. */
  date(laterMs = 0): Date {
    return new Date(this.#begunAt + this.scheduler.now + this.#aheadMs + laterMs)
  }

  get installedAt(): number {
    return this.#begunAt
  }

  /** What its clock would say, had nobody set it wrong. */
  rightDate(): Date {
    return new Date(this.#begunAt + this.scheduler.now)
  }

  /** Somebody sets it: ahead, or back. */
  moveClock(ms: number): void {
    this.#aheadMs += ms
    this.scheduler.note('database', `CLOCK IS SET ${ms > 0 ? 'ahead' : 'back'} by ${Math.abs(ms)} ms`)
  }

  /** A number that was never given before, as an identity column does: also when its transaction is undone. */
  nextNumber(): number {
    return ++this.#lastNumber
  }

  get openTransactions(): number {
    return this.#locks.holders
  }

  /** When the server was started, as real ones tell it: the same only for as long as it has not been down. */
  get startedAt(): string {
    return String(this.#starts)
  }

  get isDown(): boolean {
    return this.#down
  }

  /** `lose` is called when the server drops the connection. The result is what the connection says goodbye with. */
  connected(lose: (why: string) => void): () => void {
    if (this.#down) throw new SimError('server-down', 'connection refused')
    this.#sessions.add(lose)
    return () => void this.#sessions.delete(lose)
  }

  /** The server dies or fails over: open transactions are gone, committed ones are not. */
  crash(downMs: number): void {
    if (this.#down) return
    this.scheduler.note('database', `CRASHES for ${downMs} ms`)
    this.#down = true
    this.#starts++
    for (const lose of [...this.#sessions]) lose('server closed the connection')
    this.scheduler.after(downMs, () => {
      this.#down = false
      this.scheduler.note('database', 'IS BACK')
    })
  }

  /** Keeps everything as it is. What it answers with puts it back to that: the server comes up again with the backup. */
  backUp(): (downMs: number) => void {
    const committed = new Map(this.#committed)
    const lastNumber = this.#lastNumber
    return (downMs) => {
      this.crash(downMs)
      this.scheduler.note('database', 'IS RESTORED')
      this.#committed.clear()
      for (const [name, row] of committed) this.#committed.set(name, row)
      this.#lastNumber = lastNumber
    }
  }

  read(transaction: ServerTransaction | undefined, table: string, key: string): Row | undefined {
    const row = rowName(table, key, transaction?.place)
    return transaction?.writes.has(row) ? transaction.writes.get(row) : this.#committed.get(row)
  }

  /** Rows of a table as the transaction sees them, in the order of their insertion. */
  scan(transaction: ServerTransaction | undefined, table: string): Visible[] {
    const prefix = rowName(table, '', transaction?.place)
    const writes = transaction?.writes
    const visible: Visible[] = []
    const see = (name: string, row: Row | undefined): void => {
      if (row !== undefined) visible.push({ key: name.slice(prefix.length), row })
    }
    for (const [name, row] of this.#committed)
      if (name.startsWith(prefix)) see(name, writes?.has(name) ? writes.get(name) : row)
    for (const [name, row] of writes ?? []) if (name.startsWith(prefix) && !this.#committed.has(name)) see(name, row)
    return visible
  }

  isLockedByOther(transaction: ServerTransaction, table: string, key: string): boolean {
    const holder = this.#locks.holderOf(rowName(table, key, transaction.place))
    return holder !== undefined && holder !== transaction
  }

  /** Waits for the row's lock; rejects as the victim of a deadlock, or when it takes too long. */
  lock(transaction: ServerTransaction, table: string, key: string, timeoutMs: number): Promise<void> | undefined {
    const row = rowName(table, key, transaction.place)
    if (transaction.ended) throw new SimError('no-transaction', 'the transaction is over')
    if (this.#locks.wouldDeadlock(row, transaction) && this.#locks.holderOf(row) !== transaction) {
      throw new SimError('deadlock', `deadlock detected on ${row}`)
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (this.#locks.acquire(row, transaction, resolve)) return undefined
    const timer = this.scheduler.after(timeoutMs, () => {
      this.#locks.withdraw(row, transaction)
      reject(new SimError('lock-timeout', `lock timeout on ${row}`))
    })
    return promise.finally(() => {
      timer.cancel()
      if (transaction.ended) throw new SimError('no-transaction', 'the transaction is over')
    })
  }

  unlock(transaction: ServerTransaction, table: string, key: string): void {
    const row = rowName(table, key, transaction.place)
    if (!transaction.writes.has(row)) this.#locks.release(row, transaction)
  }

  /** Applies everything at once, or, sealed or aborted, nothing. Either way the transaction is over. */
  commit(transaction: ServerTransaction): 'committed' | 'rolled-back' | 'sealed' {
    const outcome = transaction.aborted ? 'rolled-back' : transaction.sealed ? 'sealed' : 'committed'
    if (outcome === 'committed') {
      this.commits++
      this.onCommit?.(transaction)
      for (const [row, value] of transaction.writes) {
        if (value === undefined) this.#committed.delete(row)
        else this.#committed.set(row, value)
      }
    }
    transaction.ended = true
    this.#locks.releaseAll(transaction)
    return outcome
  }

  rollback(transaction: ServerTransaction): void {
    transaction.ended = true
    this.#locks.releaseAll(transaction)
  }
}

/** A table of the same name in another place (a schema, a database) is another table. */
export function rowName(table: string, key: string, place = ''): string {
  return `${place}${table}\0${key}`
}
