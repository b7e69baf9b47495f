import type { Facts } from '../contracts/index.ts'

/**
 * Places for concurrent calls of one effect that all processes share: each is a fact that expires when its holder has been silent for
 * too long.
 */
export class Slots {
  readonly #facts: Pick<Facts<never>, 'change'>
  readonly #effect: string
  readonly #count: number
  readonly #random: () => number
  /** Slot number to the revision of its fact. */
  readonly #held = new Map<number, number>()

  constructor(facts: Pick<Facts<never>, 'change'>, effect: string, count: number, random: () => number) {
    this.#facts = facts
    this.#effect = effect
    this.#count = count
    this.#random = random
  }

  get held(): number {
    return this.#held.size
  }

  /** Holds up to `wanted` slots for this long from now. Resolves to how many are held. */
  async hold(wanted: number, forMs: number): Promise<number> {
    const kept = [...this.#held].slice(0, wanted)
    const free = this.#free(wanted - kept.length)
    const asked = [...kept.map(([slot, from]) => ({ slot, from })), ...free.map((slot) => ({ slot, from: undefined }))]
    const revisions = await this.#change(asked, forMs)
    const extra: { slot: number; from: number }[] = []
    for (const [index, { slot }] of asked.entries()) {
      const revision = revisions[index]
      if (revision === undefined) this.#held.delete(slot)
      else if (this.#held.size < wanted || this.#held.has(slot)) this.#held.set(slot, revision)
      else extra.push({ slot, from: revision })
    }
    if (extra.length > 0) await this.#change(extra, 0)
    return this.#held.size
  }

  /** Frees all but as many as are needed. */
  async keep(needed: number): Promise<void> {
    const surplus = [...this.#held].slice(needed)
    if (surplus.length === 0) return
    for (const [slot] of surplus) this.#held.delete(slot)
    await this.#change(
      surplus.map(([slot, from]) => ({ slot, from })),
      0,
    )
  }

  /** Some more than are missing, because others may have them; from a random one on, so that processes do not all ask for the same. */
  #free(missing: number): readonly number[] {
    if (missing <= 0) return []
    const first = Math.floor(this.#random() * this.#count)
    return Array.from({ length: this.#count }, (_, index) => (first + index) % this.#count)
      .filter((slot) => !this.#held.has(slot))
      .slice(0, missing + 4)
  }

  #change(
    slots: readonly { readonly slot: number; readonly from: number | undefined }[],
    forMs: number,
  ): Promise<readonly (number | undefined)[]> {
    const changes = slots.map(({ slot, from }) => ({ name: `slot ${this.#effect} ${slot}`, from, value: '', forMs }))
    return changes.length === 0 ? Promise.resolve([]) : this.#facts.change(undefined, changes)
  }
}
