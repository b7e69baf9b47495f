/** How often prepared statements may vanish before they are abandoned for good: behind a pooler they always vanish. */
const patience = 5

/** Whether statements are still sent by name. Shared by all connections of a pool. */
export class Names {
  #isUsed: boolean
  #losses = 0

  constructor(options: { readonly prepare: boolean }) {
    this.#isUsed = options.prepare
  }

  get isUsed(): boolean {
    return this.#isUsed
  }

  /** Called when the server did not know a named statement. */
  lost(): void {
    this.#losses++
    if (this.#losses >= patience) this.#isUsed = false
  }
}
