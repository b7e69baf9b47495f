import { type Process, Processors, type Step, VirtualTime } from './virtual-time.ts'

/** What things cost, in milliseconds. The defaults are near to what `pg` and Postgres cost on a small machine. */
export interface Costs {
  /** The network, there and back. */
  readonly rttMs: number
  /** CPU of this process for a statement, and for the answer to it. */
  readonly clientMs: number
  /** CPU of the database for a statement. */
  readonly serverMs: number
  /** How long a commit waits for the disk. */
  readonly diskMs: number
  /** CPU of this process for a batch, and for each of its messages. */
  readonly batchMs: number
  readonly messageMs: number
}

export const usualCosts: Costs = {
  rttMs: 0,
  clientMs: 0.05,
  serverMs: 0.05,
  diskMs: 0.5,
  batchMs: 0.25,
  messageMs: 0.06,
}

/** What a statement that travels with others costs the database, compared with one that comes alone. */
export const alongShare = 0.7

/** Row locks, statements and commits of one database, as far as they take time. */
export class Database {
  readonly time = new VirtualTime()
  readonly costs: Costs
  readonly #noise: () => number
  readonly #client: Processors
  readonly #server: Processors
  readonly #rows = new Map<number, { holder: object; waiting: { readonly by: object; got(): void }[] }>()

  constructor(costs: Costs, { cores, noise }: { readonly cores: number; noise(): number }) {
    this.costs = costs
    this.#noise = noise
    this.#client = new Processors(this.time, 1)
    this.#server = new Processors(this.time, cores)
  }

  /** For how long this process has been busy. */
  get clientMs(): number {
    return this.#client.usedMs
  }

  *client(ms: number): Process {
    yield this.#client.use(ms * this.#noise())
  }

  /** One round trip. `serverMs` in addition to what every statement costs. */
  *statement(serverMs = 0): Process {
    const { clientMs, serverMs: each, rttMs } = this.costs
    yield* this.client(clientMs / 2)
    if (rttMs > 0) yield this.time.pause(rttMs / 2)
    yield this.#server.use((each + serverMs) * this.#noise())
    if (rttMs > 0) yield this.time.pause(rttMs / 2)
    yield* this.client(clientMs / 2)
  }

  *commit(transaction: object): Process {
    const { clientMs, serverMs, diskMs, rttMs } = this.costs
    yield* this.client(clientMs / 2)
    if (rttMs > 0) yield this.time.pause(rttMs / 2)
    yield this.#server.use(serverMs * this.#noise())
    yield this.time.pause(diskMs * this.#noise())
    this.release(transaction)
    if (rttMs > 0) yield this.time.pause(rttMs / 2)
    yield* this.client(clientMs / 2)
  }

  /** A statement that changes a row. Calls `failed` if somebody else kept the row for too long. */
  *update(transaction: object, row: number, failed: () => void, timeoutMs = 5_000): Process {
    const { clientMs, serverMs, rttMs } = this.costs
    yield* this.client(clientMs / 2)
    if (rttMs > 0) yield this.time.pause(rttMs / 2)
    yield this.#server.use(serverMs * this.#noise())
    yield this.#lock(transaction, row, failed, timeoutMs)
    if (rttMs > 0) yield this.time.pause(rttMs / 2)
    yield* this.client(clientMs / 2)
  }

  /** One of many updates that travel together: others get their rows in between. */
  *lockRow(transaction: object, row: number, failed: () => void, timeoutMs: number): Process {
    yield this.#server.use(this.costs.serverMs * alongShare * this.#noise())
    yield this.#lock(transaction, row, failed, timeoutMs)
  }

  release(transaction: object): void {
    for (const [row, lock] of this.#rows) {
      if (lock.holder !== transaction) continue
      const next = lock.waiting.shift()
      if (next === undefined) this.#rows.delete(row)
      else {
        lock.holder = next.by
        next.got()
      }
    }
  }

  #lock(transaction: object, row: number, failed: () => void, timeoutMs: number): Step {
    return (resume) => {
      const lock = this.#rows.get(row)
      if (lock === undefined) this.#rows.set(row, { holder: transaction, waiting: [] })
      if (lock === undefined || lock.holder === transaction) return resume()
      let isOver = false
      const waiter = {
        by: transaction,
        got: () => {
          isOver = true
          this.time.at(0, resume)
        },
      }
      lock.waiting.push(waiter)
      this.time.at(timeoutMs, () => {
        if (isOver) return
        lock.waiting.splice(lock.waiting.indexOf(waiter), 1)
        failed()
        resume()
      })
    }
  }
}
