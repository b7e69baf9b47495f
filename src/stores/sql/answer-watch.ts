/** Waits for answers to statements of the store itself, on one connection. */
export interface Asker {
  /** The tick at which the oldest statement that has no answer yet was sent; `undefined` if there is none. */
  readonly askedAt: number | undefined
  /** How long these statements may wait for locks, in addition to the limit. */
  readonly lockWaitMs?: number | undefined
  /** The server is silent. Whoever waits must be told, and nothing may use the connection any more. */
  giveUp(error: Error): void
}

/** How often it looks within the limit. */
const ticksInLimit = 8
const longestTickMs = 2 ** 31 - 1

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

  /** For a single statement on a connection that is not watched otherwise. `giveUp` ends the connection. */
  until<T>(answer: Promise<T>, giveUp: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const asker: Asker = {
        askedAt: this.tick,
        giveUp(error) {
          reject(error)
          giveUp()
        },
      }
      this.add(asker)
      answer.finally(() => this.delete(asker)).then(resolve, reject)
    })
  }

  readonly #look = (): void => {
    this.tick++
    if (this.#askers.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const asker of [...this.#askers]) {
      const { askedAt, lockWaitMs = 0 } = asker
      const limit = ticksInLimit + Math.ceil(lockWaitMs / this.#tickMs)
      if (askedAt === undefined || this.tick - askedAt <= limit) continue
      this.#askers.delete(asker)
      asker.giveUp(silentError(this.#limitMs + lockWaitMs))
    }
  }
}

/** As clients report a connection that is lost. */
function silentError(ms: number): Error {
  const message = `Connection lost: the server did not answer within ${Math.round(ms)} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}
