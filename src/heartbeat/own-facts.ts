import type { FactChange, Facts } from '../contracts/index.ts'

/** Facts that only this process changes: whatever their state in the store, the latest value counts. */
export class OwnFacts {
  readonly #facts: Pick<Facts<never>, 'change'>
  readonly #revisions = new Map<string, number>()

  constructor(facts: Pick<Facts<never>, 'change'>) {
    this.#facts = facts
  }

  /** Resolves to the revision of each. */
  async save(changes: readonly Omit<FactChange, 'from'>[]): Promise<readonly (number | undefined)[]> {
    if (changes.length === 0) return []
    const known = changes.map((change) => ({ ...change, from: this.#revisions.get(change.name) }))
    const revisions = [...(await this.#facts.change(undefined, known))]
    // They have expired, because this process was frozen or the store was down.
    const expired = known.flatMap((change, place) =>
      revisions[place] === undefined && change.from !== undefined
        ? [{ place, change: { ...change, from: undefined } }]
        : [],
    )
    const renewed =
      expired.length === 0
        ? []
        : await this.#facts.change(
            undefined,
            expired.map(({ change }) => change),
          )
    for (const [index, { place }] of expired.entries()) revisions[place] = renewed[index]
    for (const [place, { name }] of changes.entries()) {
      const revision = revisions[place]
      if (revision === undefined) this.#revisions.delete(name)
      else this.#revisions.set(name, revision)
    }
    return revisions
  }

  /** It will not be changed again. */
  forget(name: string): void {
    this.#revisions.delete(name)
  }
}
