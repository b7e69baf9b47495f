import { decideRelease, type ReleaseDecision } from './decide-release.ts'
import type { OperableEngine } from './operable-engine.ts'

export interface RedriverOptions {
  readonly pollMs: number
}

/** How long it waits for attempts before it looks again. */
const attemptsMs = 50

/** Closed while the store is down. */
export interface Gate {
  open(signal: AbortSignal): Promise<void>
  close(error: unknown, signal: AbortSignal): void
}

/**
 * Drives the redrives of a store. Every process runs one; whoever has a redrive locked decides about it, from what the
 * rows say, so that it goes on wherever another driver has ended.
 */
export class Redriver<Tx> {
  readonly #engine: OperableEngine<Tx>
  readonly #gate: Gate
  readonly #options: RedriverOptions
  readonly #stopping = new AbortController()
  /** When this driver last looked at a redrive. */
  readonly #looks = new Map<string, number>()
  #running: Promise<void> | undefined

  constructor(engine: OperableEngine<Tx>, gate: Gate, options: RedriverOptions) {
    this.#engine = engine
    this.#gate = gate
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { store, clock, events } = this.#engine
    while (!signal.aborted) {
      await this.#gate.open(signal)
      if (signal.aborted) return
      let pauseMs = this.#options.pollMs
      try {
        pauseMs = await this.#driveAll(signal)
      } catch (error) {
        if (store.classify(error) === 'unavailable') this.#gate.close(error, signal)
        else events.emit({ kind: 'loop-failed', loop: 'redrives', error })
      }
      if (pauseMs > 0) await clock.sleep(pauseMs, signal)
    }
  }

  /** Gives every running redrive one turn. Resolves to how long to wait before the next. */
  async #driveAll(signal: AbortSignal): Promise<number> {
    const { pollMs } = this.#options
    const driven = new Set<string>()
    let pauseMs = pollMs
    while (!signal.aborted) {
      const turn = await this.#driveNext(driven)
      if (turn === undefined) return pauseMs
      const { id, decision } = turn
      driven.add(id)
      if (decision.kind === 'end') this.#looks.delete(id)
      if (decision.kind === 'end') this.#engine.events.emit({ kind: 'redrive-ended', id, state: decision.state })
      if (decision.kind === 'release' && !decision.isPaced) pauseMs = 0
      if (decision.kind === 'wait-for-attempts') pauseMs = Math.min(pauseMs, attemptsMs)
    }
    return pollMs
  }

  /** A look takes time as well; but the time in which nobody looked is not made up for. */
  #sinceLastLook(id: string): number {
    const now = this.#engine.clock.monotonicMs()
    const before = this.#looks.get(id) ?? now - this.#options.pollMs
    this.#looks.set(id, now)
    return Math.min(now - before, this.#options.pollMs * 3)
  }

  #driveNext(driven: ReadonlySet<string>): Promise<{ id: string; decision: ReleaseDecision } | undefined> {
    const { store } = this.#engine
    return store.transaction(async (tx) => {
      const taken = await store.redrives.take(tx)
      if (taken === undefined || driven.has(taken.redrive.id)) return undefined
      const { redrive, progress, now } = taken
      const decision = decideRelease(redrive, progress, now, this.#sinceLastLook(redrive.id))
      if (decision.kind === 'end') await store.redrives.end(tx, redrive.id, decision.state)
      if (decision.kind !== 'release') return { id: redrive.id, decision }
      const released = await store.redrives.release(tx, redrive.id, decision.count)
      // Those that could not be had now may be had later: to go on at once would only ask for them again and again.
      return { id: redrive.id, decision: released > 0 ? decision : { kind: 'wait' } }
    })
  }
}
