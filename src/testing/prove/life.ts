/** The life of a simulated process. After its end, none of its code continues: everything asynchronous waits forever. */
export class Life {
  readonly #end = Promise.withResolvers<void>()
  readonly #abort = new AbortController()
  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** Aborted at the end: the database notices that the process is gone and rolls back its open transactions. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#abort.abort(new ProcessDied())
    this.#end.resolve()
  }

  /** The answer of a dead process: it never comes. */
  silence(): Promise<never> {
    return new Promise(() => {})
  }
}

/** Thrown where a call cannot wait forever because it is synchronous. */
export class ProcessDied extends Error {
  constructor() {
    super('prove() simulates a crash of the process here. In reality, nothing would run after this point.')
    this.name = 'ProcessDied'
  }
}
