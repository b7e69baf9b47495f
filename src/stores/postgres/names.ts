/** How often prepared statements may vanish before they are given up for good: behind a pooler they always will. */
const patience = 5

/** Whether statements are still sent by their names. Shared by all connections of a pool. */
export class Names {
  #isUsed: boolean
  #losses = 0

  constructor(options: { readonly prepare: boolean }) {
    this.#isUsed = options.prepare
  }

  get isUsed(): boolean {
    return this.#isUsed
  }

  /** The server did not know one of them. */
  lost(): void {
    this.#losses++
    if (this.#losses >= patience) this.#isUsed = false
  }
}
