import type { Turns } from './turns.ts'
import type { TypePace } from './type-pace.ts'

/** A batch that is running, as far as other batches of its types wait for it, or it for them. */
export class BatchInTurn {
  readonly #paces: readonly TypePace[]
  readonly #turns: readonly Turns[]
  /** Of which types it has a turn now. */
  #held: Turns[] = []
  #isOver = false

  /** The paces are always in the same order, so that no two batches wait for each other's turns. */
  constructor(paces: readonly TypePace[]) {
    this.#paces = paces
    this.#turns = paces.flatMap(({ turns }) => turns ?? [])
    for (const pace of paces) pace.begun()
  }

  get takesTurns(): boolean {
    return this.#turns.length > 0
  }

  /** Calls `begin` when the handlers of the batch may be called. `leave` must follow, however that ends. */
  enter(begin: () => void): void {
    const next = this.#isOver ? undefined : this.#turns[this.#held.length]
    if (next === undefined) begin()
    next?.take(() => {
      // While it was waiting it may have become so late that others do not wait for it.
      if (this.#isOver) next.pass()
      else this.#held.push(next)
      this.enter(begin)
    })
  }

  /** The handlers have been called. */
  leave(): void {
    for (const turns of this.#held.splice(0)) turns.pass()
  }

  /** Others need no longer wait for it: it has ended, or takes far too long. It may be said again. */
  end(): void {
    this.leave()
    if (!this.#isOver) for (const pace of this.#paces) pace.ended()
    this.#isOver = true
  }
}
