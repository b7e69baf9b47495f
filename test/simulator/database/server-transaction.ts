import type { Row } from './sim-database.ts'

interface Undo {
  readonly row: string
  readonly had: boolean
  readonly before: Row | undefined
}

/** A transaction as the server sees it: uncommitted writes over the committed rows, and how to take them back. */
export class ServerTransaction {
  readonly writes = new Map<string, Row | undefined>()
  readonly locked = new Set<string>()
  readonly begunAt: number
  /** After an error the transaction takes nothing but a rollback. */
  aborted = false
  sealed = false
  /** Where tables are looked for; empty: where they should be. */
  place = ''
  /** Committed or undone: a statement that was still waiting then must do nothing more. */
  ended = false
  readonly #undo: Undo[] = []
  readonly #savepoints: { name: string; length: number }[] = []

  constructor(begunAt: number) {
    this.begunAt = begunAt
  }

  write(row: string, value: Row | undefined): void {
    this.#undo.push({ row, had: this.writes.has(row), before: this.writes.get(row) })
    this.writes.set(row, value)
  }

  savepoint(name: string): void {
    this.#savepoints.push({ name, length: this.#undo.length })
  }

  release(name: string): boolean {
    const index = this.#savepoints.findLastIndex((savepoint) => savepoint.name === name)
    if (index < 0) return false
    this.#savepoints.length = index
    return true
  }

  rollbackTo(name: string): boolean {
    const index = this.#savepoints.findLastIndex((savepoint) => savepoint.name === name)
    const savepoint = this.#savepoints[index]
    if (savepoint === undefined) return false
    this.#savepoints.length = index + 1
    while (this.#undo.length > savepoint.length) {
      const { row, had, before } = this.#undo.pop() as Undo
      if (had) this.writes.set(row, before)
      else this.writes.delete(row)
    }
    this.aborted = false
    return true
  }
}
