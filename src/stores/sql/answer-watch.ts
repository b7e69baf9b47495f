/** Waits for answers to statements of the store itself, on one connection. */
export interface Asker {
  /** The tick at which the oldest statement that has no answer yet was sent; `undefined` if there is none. */
  readonly askedAt: number | undefined
  /** How long these statements may wait for locks, in addition to the limit. */
  readonly lockWaitMs?: number | undefined
  /** How many bytes they send. That may take its time, and nobody sees how much of it has arrived. */
  readonly askedBytes?: number | undefined
  /** How many bytes of answers have arrived, as far as the client shows it. Whoever is sending an answer, however slowly, is not silent. */
  heardBytes?(): number | undefined
  /** The server is silent. Whoever waits must be told, and nothing may use the connection any more. */
  giveUp(error: Error): void
}

/** How often it looks within the limit. */
const ticksInLimit = 8
const longestTickMs = 2 ** 31 - 1
/** The slowest network on which large messages can be sent without a larger limit: half a megabit per second. */
const slowestBytesPerMs = 64

/**
 * Gives up connections on which a statement of the store itself gets no answer: a firewall may have forgotten them, and then nobody
 * ever tells the client. Statements of handlers have limits of their own.
 *
 * A statement costs no timer: it notes the present tick, and one timer looks at all connections now and then. Ticks are counted, not
 * measured, so that a process that was frozen does not take its own silence for that of the server.
 */
export class AnswerWatch {
  tick = 0
  readonly #limitMs: number
  readonly #tickMs: number
  readonly #askers = new Set<Asker>()
  /** How much was heard when it was last more than before, and at which tick. */
  readonly #heard = new WeakMap<Asker, { readonly bytes: number; readonly at: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
    this.#tickMs = Math.min(Math.max(1, limitMs / ticksInLimit), longestTickMs)
  }

  add(asker: Asker): void {
    this.#askers.add(asker)
    if (this.#timer !== undefined) return
    this.#timer = setInterval(this.#look, this.#tickMs)
    this.#timer.unref()
  }

  delete(asker: Asker): void {
    this.#askers.delete(asker)
  }

  /**
   * For a single statement on a connection that is not watched otherwise. `giveUp` ends the connection. `askedBytes`: how
   * much it sends.
   */
  until<T>(answer: Promise<T>, giveUp: () => void, askedBytes = 0): Promise<T> {
    return new Promise((resolve, reject) => {
      const asker: Asker = {
        askedAt: this.tick,
        askedBytes,
        giveUp(error) {
          reject(error)
          giveUp()
        },
      }
      this.add(asker)
      answer.finally(() => this.delete(asker)).then(resolve, reject)
    })
  }

  #heardAt(asker: Asker): number {
    const bytes = asker.heardBytes?.()
    if (bytes === undefined) return 0
    const before = this.#heard.get(asker)
    if (before?.bytes === bytes) return before.at
    this.#heard.set(asker, { bytes, at: this.tick })
    return this.tick
  }

  readonly #look = (): void => {
    this.tick++
    if (this.#askers.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const asker of [...this.#askers]) {
      const { askedAt, lockWaitMs = 0, askedBytes = 0 } = asker
      if (askedAt === undefined) continue
      const moreMs = lockWaitMs + askedBytes / slowestBytesPerMs
      const limit = ticksInLimit + Math.ceil(moreMs / this.#tickMs)
      if (this.tick - Math.max(askedAt, this.#heardAt(asker)) <= limit) continue
      this.#askers.delete(asker)
      asker.giveUp(silentError(this.#limitMs + moreMs))
    }
  }
}

/** As clients report a connection that is lost. */
function silentError(ms: number): Error {
  const message = `Connection lost: the server did not answer within ${Math.round(ms)} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}
