import { BatchSize, type SizeSample } from './batch-size.ts'
import { Crowding, type Progress } from './crowding.ts'
import { GatheredSize } from './gathered-size.ts'
import { Turns } from './turns.ts'

export interface TypePaceOptions {
  /** The largest batch. */
  readonly max: number
  /** The largest batch if the handlers take many messages in about the time of one. Default: `max`. */
  readonly gatheredMax?: number | undefined
  /** The size of the first batches. */
  readonly start: number
  /** How long a message takes, before that is known. */
  readonly guessMs: number
  /** Whether the handlers take many messages in about the time of one. */
  readonly isGathered: boolean
}

export interface PaceSample extends SizeSample {
  /** For how long it waited until its handlers might be called. */
  readonly waitedMs: number
  /** Whether its transaction was rolled back because something in it failed. */
  readonly hadFailure: boolean
}

/** How fast the messages of one type are handled, how large their batches are, and how many of them may run at once. */
export class TypePace {
  readonly #max: number
  readonly #size: BatchSize
  readonly #gatheredSize: GatheredSize
  readonly #crowding = new Crowding()
  /** If its batches take turns at calling their handlers. */
  readonly turns: Turns | undefined
  #running = 0
  #messageMs: number
  #isMeasured = false

  constructor({ max, gatheredMax = max, start, guessMs, isGathered }: TypePaceOptions) {
    this.#max = max
    this.#gatheredSize = new GatheredSize({ usual: max, most: gatheredMax })
    this.#size = new BatchSize({ max, start })
    this.turns = isGathered ? new Turns() : undefined
    this.#messageMs = guessMs
  }

  /** Moving average of the time that one message takes. */
  get messageMs(): number {
    return this.#messageMs
  }

  /** If false, the average is only a guess. */
  get isMeasured(): boolean {
    return this.#isMeasured
  }

  /** Whether all that wait go into one batch rather than being spread over idle workers. */
  get isGathered(): boolean {
    return this.turns !== undefined || this.#crowding.isOneAtATime
  }

  /** How many messages a batch may have. */
  get limit(): number {
    if (this.turns !== undefined) return this.#gatheredSize.limit
    return this.#crowding.isOneAtATime ? this.#max : this.#size.limit
  }

  /** Whether another batch may begin now. */
  get mayBegin(): boolean {
    // One more than may call its handlers, which opens and claims meanwhile.
    if (this.turns !== undefined) return this.#running < this.turns.limit + 1
    return this.#running < (this.#crowding.isOneAtATime ? 1 : Number.POSITIVE_INFINITY)
  }

  begun(): void {
    this.#running++
  }

  ended(): void {
    this.#running--
  }

  /** Learns from a batch that has ended. `messageMs`: how long each of its messages took on average. */
  learn(batch: PaceSample, messageMs: number, now: Progress): void {
    const { size, hadConflict, hadFailure, waitedMs } = batch
    this.#messageMs = this.#isMeasured ? this.#messageMs + (messageMs - this.#messageMs) / 4 : messageMs
    this.#isMeasured = true
    if (this.turns !== undefined) {
      this.#gatheredSize.ended({ size, hadSetback: hadConflict || hadFailure })
      if (hadConflict) this.turns.collided(this.#running)
      else this.turns.wentWell(waitedMs)
      return
    }
    if (!this.#crowding.isOneAtATime) this.#size.ended(batch)
    this.#crowding.ended(this.#size.isCrowded && !hadConflict, now)
  }
}
