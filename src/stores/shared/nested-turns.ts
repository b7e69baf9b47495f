import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../contracts/index.ts'
import { FairMutex } from './fair-mutex.ts'

interface Level {
  readonly owner: object
  readonly turns: FairMutex
  open: boolean
}

/**
 * Savepoints form a stack, and two overlapping ones would end each other. Concurrent savepoints take turns; a savepoint that
 * is begun inside another one goes on top of it.
 */
export class NestedTurns {
  readonly #clock: Pick<Clock, 'timer' | 'monotonicMs'>
  readonly #patienceMs: number
  readonly #outermost = new WeakMap<object, Level>()
  readonly #surrounding = new AsyncLocalStorage<Level>()

  constructor(clock: Pick<Clock, 'timer' | 'monotonicMs'>, patienceMs: number) {
    this.#clock = clock
    this.#patienceMs = patienceMs
  }

  /** `owner` is the connection or transaction that owns the stack. */
  async run<T>(owner: object, work: () => Promise<T>): Promise<T> {
    const endTurn = await this.#levelOf(owner).turns.acquire()
    const inner = this.#newLevel(owner)
    try {
      return await this.#surrounding.run(inner, work)
    } finally {
      inner.open = false
      endTurn()
    }
  }

  #levelOf(owner: object): Level {
    const level = this.#surrounding.getStore()
    if (level?.owner === owner && level.open) return level
    let first = this.#outermost.get(owner)
    if (first === undefined) {
      first = this.#newLevel(owner)
      this.#outermost.set(owner, first)
    }
    return first
  }

  #newLevel(owner: object): Level {
    return { owner, turns: new FairMutex(this.#clock, this.#patienceMs), open: true }
  }
}
