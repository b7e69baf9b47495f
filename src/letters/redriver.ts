import type { Engine } from '../engine/engine.ts'
import { databaseNow } from '../facts/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import {
  endRedrive,
  type FoundRedrive,
  findRedrives,
  progressOf,
  releaseLetters,
  runningRedrives,
} from '../operations/redrives.ts'
import { isRival, RivalError } from '../operations/rivals.ts'
import { decideRelease, type ReleaseDecision } from './decide-release.ts'

export interface RedriverOptions {
  readonly pollMs: number
}

/** How long it waits for running attempts before it looks again. */
const attemptsMs = 50

/**
 * Drives the redrives of a store. Every process runs one and decides from the rows, so that a redrive continues when another
 * driver ends. If several decide at the same time, one succeeds: a release commits only if the redrive has not changed since it
 * was read.
 */
export function redriver<Tx>(engine: Engine<Tx>, gate: Gate, { pollMs }: RedriverOptions): Loop {
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
  readonly #engine: Engine<Tx>
  readonly #pollMs: number
  /** When this driver last looked at a redrive. */
  readonly #looks = new Map<string, number>()

  constructor(engine: Engine<Tx>, pollMs: number) {
    this.#engine = engine
    this.#pollMs = pollMs
  }

  /** Gives every running redrive one turn. Resolves to how long to wait before the next. */
  async giveAll(signal: AbortSignal): Promise<number> {
    const { ids } = await runningRedrives(this.#engine.store)
    for (const id of this.#looks.keys()) if (!ids.includes(id)) this.#looks.delete(id)
    let pauseMs = this.#pollMs
    for (const id of ids) {
      if (signal.aborted) break
      const decision = await this.#drive(id)
      if (decision.kind === 'end') this.#engine.events.emit({ kind: 'redrive-ended', id, state: decision.state })
      // Other processes find them a little later.
      if (decision.kind === 'release') this.#engine.wake('retries')
      if (decision.kind === 'release' && !decision.isPaced) pauseMs = 0
      if (decision.kind === 'wait-for-attempts') pauseMs = Math.min(pauseMs, attemptsMs)
    }
    return pauseMs
  }

  /** A look takes time as well, but time in which no process looked is not made up for. */
  #sinceLastLook(id: string): number {
    const now = this.#engine.clock.monotonicMs()
    const before = this.#looks.get(id) ?? now - this.#pollMs
    this.#looks.set(id, now)
    return Math.min(now - before, this.#pollMs * 3)
  }

  /** Resolves to what was done. Does nothing if another process has driven or ended the redrive since it was read. */
  async #drive(id: string): Promise<ReleaseDecision> {
    const { store } = this.#engine
    const running = await runningRedrives(store)
    const [kept] = await findRedrives(store, [id])
    if (kept?.redrive.state !== 'running') return { kind: 'wait' }
    // After reading the redrive: anything released in between changes the redrive, and then nothing is done here.
    const reached = await progressOf(store, id)
    const now = kept.redrive.perSecond === undefined ? kept.redrive.startedAt : await databaseNow(store)
    const found = notFromTheFuture(kept, now)
    const decision = decideRelease(found.redrive, reached, now, this.#sinceLastLook(id))
    if (decision.kind !== 'end' && decision.kind !== 'release') return decision
    try {
      return await store.transaction(async (tx) => {
        if (decision.kind === 'end') {
          if (await endRedrive(store, tx, running, found, { state: decision.state, reached })) return decision
          throw new RivalError()
        }
        const released = await releaseLetters(store, tx, found, decision.count)
        if (released === undefined) throw new RivalError()
        // Rows that are locked now may be free later: continuing immediately would only ask for them again and again.
        return released > 0 ? decision : { kind: 'wait' }
      })
    } catch (error) {
      if (isRival(error)) return { kind: 'wait' }
      throw error
    }
  }
}

/**
 * If it was started while the clock was ahead, its pace would stand still until the clock gets there again. It then starts
 * as long ago as its pace takes for what it has released, and the next release stores that.
 */
function notFromTheFuture(found: FoundRedrive, now: Date): FoundRedrive {
  const { redrive, released } = found
  if (redrive.perSecond === undefined || redrive.startedAt <= now) return found
  const startedAt = new Date(now.getTime() - Math.ceil((released * 1_000) / redrive.perSecond) - 1)
  return { ...found, redrive: { ...redrive, startedAt } }
}
