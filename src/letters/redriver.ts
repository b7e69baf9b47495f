import type { Engine } from '../engine/engine.ts'
import { databaseNow } from '../facts/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { endRedrive, findRedrives, progressOf, releaseLetters, runningRedrives } from '../operations/redrives.ts'
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

  constructor(engine: Engine<Tx>, pollMs: number) {
    this.#engine = engine
    this.#pollMs = pollMs
  }

  /** Gives every running redrive one turn. Resolves to how long to wait before the next. */
  async giveAll(signal: AbortSignal): Promise<number> {
    const { ids } = await runningRedrives(this.#engine.store)
    let pauseMs = this.#pollMs
    for (const id of ids) {
      if (signal.aborted) break
      const decision = await this.#drive(id)
      if (decision.kind === 'end') this.#engine.events.emit({ kind: 'redrive-ended', id, state: decision.state })
      // Other processes find them a little later.
      if (decision.kind === 'release') this.#engine.wake('retries')
      if (decision.kind === 'release' && decision.paceFrom === undefined) pauseMs = 0
      if (decision.kind === 'wait-for-attempts') pauseMs = Math.min(pauseMs, attemptsMs)
    }
    return pauseMs
  }

  /** Resolves to what was done. Does nothing if another process has driven or ended the redrive since it was read. */
  async #drive(id: string): Promise<ReleaseDecision> {
    const { store } = this.#engine
    const running = await runningRedrives(store)
    const [found] = await findRedrives(store, [id])
    if (found?.redrive.state !== 'running') return { kind: 'wait' }
    // After reading the redrive: anything released in between changes the redrive, and then nothing is done here.
    const reached = await progressOf(store, id)
    const now = found.redrive.perSecond === undefined ? found.redrive.startedAt : await databaseNow(store)
    // A look takes time as well, so that the next one may come late.
    const decision = decideRelease({ ...found.redrive, paceFrom: found.paceFrom }, reached, now, this.#pollMs * 3)
    if (decision.kind !== 'end' && decision.kind !== 'release') return decision
    try {
      return await store.transaction(async (tx) => {
        if (decision.kind === 'end') {
          if (await endRedrive(store, tx, running, found, { state: decision.state, reached })) return decision
          throw new RivalError()
        }
        const released = await releaseLetters(store, tx, found, decision.count, decision.paceFrom)
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
