/** The value that each row had before it was changed; `undefined` if there was none. */
type Layer<Row> = Map<string, Row | undefined>

/**
 * Rows by key, with a stack of layers that remember the previous rows: one layer for the transaction, more for its
 * savepoints. Rows are never changed in place, only replaced.
 */
export class Table<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #layers: Layer<Row>[] = []

  get(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  values(): Row[] {
    return [...this.#rows.values()]
  }

  entries(): [string, Row][] {
    return [...this.#rows.entries()]
  }

  set(key: string, row: Row): void {
    this.#remember(key)
    this.#rows.set(key, row)
  }

  delete(key: string): boolean {
    this.#remember(key)
    return this.#rows.delete(key)
  }

  /** The row as it was before the open transaction. */
  committed(key: string): Row | undefined {
    const layer = this.#layers.find((each) => each.has(key))
    return layer === undefined ? this.#rows.get(key) : layer.get(key)
  }

  committedEntries(): [string, Row][] {
    const keys = new Set([...this.#rows.keys(), ...this.#layers.flatMap((layer) => [...layer.keys()])])
    return [...keys].flatMap((key) => {
      const row = this.committed(key)
      return row === undefined ? [] : [[key, row] satisfies [string, Row]]
    })
  }

  get depth(): number {
    return this.#layers.length
  }

  push(): void {
    this.#layers.push(new Map())
  }

  /** Keeps the changes made since there were `depth` layers. */
  keepTo(depth: number): void {
    for (const layer of this.#layers.splice(depth)) {
      const lower = this.#layers.at(-1)
      if (lower === undefined) continue
      for (const [key, before] of layer) if (!lower.has(key)) lower.set(key, before)
    }
  }

  /** Rolls back the changes made since there were `depth` layers. */
  undoTo(depth: number): void {
    for (const layer of this.#layers.splice(depth).reverse()) {
      for (const [key, before] of layer) {
        if (before === undefined) this.#rows.delete(key)
        else this.#rows.set(key, before)
      }
    }
  }

  #remember(key: string): void {
    const layer = this.#layers.at(-1)
    if (layer === undefined) throw new Error('A table of the memory store is changed only inside a transaction.')
    if (!layer.has(key)) layer.set(key, this.#rows.get(key))
  }
}
