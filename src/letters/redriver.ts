import { type Gate, Loop } from '../loops/loop.ts'
import { decideRelease, type ReleaseDecision } from './decide-release.ts'
import type { OperableEngine } from './operable-engine.ts'

export interface RedriverOptions {
  readonly pollMs: number
}

/** How long it waits for attempts before it looks again. */
const attemptsMs = 50

/**
 * Drives the redrives of a store. Every process runs one; whoever has a redrive locked decides about it, from what the
 * rows say, so that it goes on wherever another driver has ended.
 */
export function redriver<Tx>(engine: OperableEngine<Tx>, gate: Gate, { pollMs }: RedriverOptions): Loop {
  const { clock, events } = engine
  const turns = new Turns(engine, pollMs)
  return new Loop({
    name: 'redrives',
    clock,
    events,
    gate,
    round: (signal) => turns.giveAll(signal),
    afterFailure: { leastMs: pollMs, mostMs: 30_000 },
  })
}

class Turns<Tx> {
  readonly #engine: OperableEngine<Tx>
  readonly #pollMs: number
  /** When this driver last looked at a redrive. */
  readonly #looks = new Map<string, number>()

  constructor(engine: OperableEngine<Tx>, pollMs: number) {
    this.#engine = engine
    this.#pollMs = pollMs
  }

  /** Gives every running redrive one turn. Resolves to how long to wait before the next. */
  async giveAll(signal: AbortSignal): Promise<number> {
    const driven = new Set<string>()
    let pauseMs = this.#pollMs
    while (!signal.aborted) {
      const turn = await this.#driveNext(driven)
      if (turn === undefined) return pauseMs
      const { id, decision } = turn
      driven.add(id)
      if (decision.kind === 'end') this.#looks.delete(id)
      if (decision.kind === 'end') this.#engine.events.emit({ kind: 'redrive-ended', id, state: decision.state })
      // In another process they are found a little later.
      if (decision.kind === 'release') this.#engine.wake('retries')
      if (decision.kind === 'release' && !decision.isPaced) pauseMs = 0
      if (decision.kind === 'wait-for-attempts') pauseMs = Math.min(pauseMs, attemptsMs)
    }
    return pauseMs
  }

  /** A look takes time as well; but the time in which nobody looked is not made up for. */
  #sinceLastLook(id: string): number {
    const now = this.#engine.clock.monotonicMs()
    const before = this.#looks.get(id) ?? now - this.#pollMs
    this.#looks.set(id, now)
    return Math.min(now - before, this.#pollMs * 3)
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
