import { decideRelease, type ReleaseDecision } from './decide-release.ts'
import type { OperableEngine } from './operable-engine.ts'

export interface RedriverOptions {
  readonly pollMs: number
}

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
      try {
        if (await this.#driveAll(signal)) continue
      } catch (error) {
        if (store.classify(error) === 'unavailable') this.#gate.close(error, signal)
        else events.emit({ kind: 'loop-failed', loop: 'redrives', error })
      }
      await clock.sleep(this.#options.pollMs, signal)
    }
  }

  /** Gives every running redrive one turn. Resolves to whether one may be given another at once. */
  async #driveAll(signal: AbortSignal): Promise<boolean> {
    const driven = new Set<string>()
    let goesOn = false
    while (!signal.aborted) {
      const turn = await this.#driveNext(driven)
      if (turn === undefined) return goesOn
      const { id, decision } = turn
      driven.add(id)
      if (decision.kind === 'end') this.#engine.events.emit({ kind: 'redrive-ended', id, state: decision.state })
      if (decision.kind === 'release' && !decision.isPaced) goesOn = true
    }
    return false
  }

  #driveNext(driven: ReadonlySet<string>): Promise<{ id: string; decision: ReleaseDecision } | undefined> {
    const { store } = this.#engine
    return store.transaction(async (tx) => {
      const taken = await store.redrives.take(tx)
      if (taken === undefined || driven.has(taken.redrive.id)) return undefined
      const { redrive, progress, now } = taken
      const decision = decideRelease(redrive, progress, now, this.#options.pollMs)
      if (decision.kind === 'end') await store.redrives.end(tx, redrive.id, decision.state)
      if (decision.kind !== 'release') return { id: redrive.id, decision }
      const released = await store.redrives.release(tx, redrive.id, decision.count)
      // Those that could not be had now may be had later: to go on at once would only ask for them again and again.
      return { id: redrive.id, decision: released > 0 ? decision : { kind: 'wait' } }
    })
  }
}
