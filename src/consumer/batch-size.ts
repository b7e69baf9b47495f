/** Running totals of a consumer. */
export interface Progress {
  /** Messages handled, of all types. */
  readonly messages: number
  /** For how long at least one worker was busy. */
  readonly activeMs: number
}

type Direction = 'up' | 'down'

interface Trial {
  readonly direction: Direction
  readonly size: number
  /** What a message cost with the present size, just before the size under trial was used. */
  besideMs: number
  isBeingUsed: boolean
  /** Comparisons won by the size under trial, minus those lost. */
  lead: number
}

/** A shorter window would measure a single batch, or the garbage collector, more than the size. Slow batches say enough. */
const window = { batches: 8, leastMs: 25, mostMs: 250 }

/** Batches that have met no conflict yet grow quickly, unless that makes them slower by more than chance. */
const growth = { ...window, batches: 2, leastMs: 0, clearlyWorse: 1.5 }

/** One comparison may be chance: the machine has other things to do. */
const convincing = 2

/** The larger size wins a tie, because it is less work for the database. */
const betterThan = { up: 1, down: 0.95 }

/** In windows. However often trials fail, one is made now and then: what collides today may not tomorrow. */
const mostPatience = 512

/**
 * How many messages a batch should have. Large batches save round trips and commits; small ones wait less for each other's
 * rows, and use more connections. Which of them counts more depends on the network, the handlers and the data, so it is
 * measured: a size twice or half as large takes turns with the present one for a while, and replaces it if more messages are
 * handled in the same time. Until the first conflict, batches grow without being compared.
 */
export class BatchSize {
  readonly #max: number
  #size: number
  /** How long a message took before the last growth; `undefined` once batches do not grow without being compared. */
  #growingFrom: number | undefined
  #trial: Trial | undefined
  /** How many windows to wait before the next trial, and after the next one that fails. */
  readonly #waits: Record<Direction, number> = { up: 1, down: 2 }
  readonly #patience: Record<Direction, number> = { up: 4, down: 4 }
  /** Where the window began; `undefined` before the first batch. */
  #from: Progress | undefined
  #batches = 0
  #largest = 0

  constructor(max: number, start: number) {
    this.#max = max
    this.#size = Math.min(max, start)
    this.#growingFrom = this.#size < max ? Number.POSITIVE_INFINITY : undefined
  }

  get limit(): number {
    return this.#trial?.isBeingUsed ? this.#trial.size : this.#size
  }

  /** A batch has ended. `size` is what it had at its beginning. */
  ended(size: number, hadConflict: boolean, now: Progress): void {
    this.#batches++
    this.#largest = Math.max(this.#largest, size)
    this.#from ??= now
    const { messages, activeMs: beganMs } = this.#from
    const activeMs = now.activeMs - beganMs
    const { batches, leastMs, mostMs } = this.#isGrowing ? growth : window
    const isOver = (this.#batches >= batches && activeMs >= leastMs) || activeMs >= mostMs
    if (hadConflict) this.#collided(size)
    else if (!isOver) return
    else this.#compare(activeMs / Math.max(1, now.messages - messages))
    this.#from = now
    this.#batches = 0
    this.#largest = 0
  }

  #collided(size: number): void {
    this.#growingFrom = undefined
    // Batches that were begun when larger ones were allowed say nothing about the present size.
    if (size > this.limit) return
    const trial = this.#trial
    if (trial?.isBeingUsed !== true) this.#size = Math.max(1, Math.floor(this.#size / 2))
    else if (trial.direction === 'down') this.#size = trial.size
    this.#postpone('up')
  }

  #compare(costMs: number): void {
    const trial = this.#trial
    if (this.#isGrowing) this.#grow(costMs)
    else if (trial === undefined) this.#trial = this.#next(costMs)
    else if (trial.isBeingUsed) this.#judge(trial, costMs)
    else this.#trial = { ...trial, besideMs: costMs, isBeingUsed: true }
  }

  get #isGrowing(): boolean {
    return this.#growingFrom !== undefined && this.#trial === undefined && this.#isWorth('up')
  }

  #grow(costMs: number): void {
    const isWorse = costMs > (this.#growingFrom ?? 0) * growth.clearlyWorse
    this.#size = isWorse ? Math.max(1, Math.floor(this.#size / 2)) : Math.min(this.#max, this.#size * 2)
    this.#growingFrom = isWorse || this.#size === this.#max ? undefined : costMs
  }

  #judge(trial: Trial, costMs: number): void {
    const { direction, size } = trial
    const lead = trial.lead + (costMs < trial.besideMs * betterThan[direction] ? 1 : -1)
    this.#trial = { ...trial, isBeingUsed: false, lead }
    if (lead <= -convincing) this.#postpone(direction)
    if (lead < convincing) return
    this.#size = size
    this.#growingFrom = undefined
    this.#patience[direction] = 4
    this.#trial = this.#isWorth(direction) ? this.#trialOf(direction, costMs) : undefined
  }

  /** The next trial, if it is time for one. */
  #next(costMs: number): Trial | undefined {
    for (const direction of ['up', 'down'] as const)
      if (--this.#waits[direction] <= 0 && this.#isWorth(direction)) return this.#trialOf(direction, costMs)
    return undefined
  }

  /** Batches that are far below the limit would not notice half of it. */
  #trialOf(direction: Direction, besideMs: number): Trial {
    const size = direction === 'up' ? this.#size * 2 : Math.floor(Math.min(this.#size, this.#largest) / 2)
    return { direction, size: Math.max(1, Math.min(this.#max, size)), besideMs, isBeingUsed: true, lead: 0 }
  }

  /** Whether batches would become larger, or smaller, at all. */
  #isWorth(direction: Direction): boolean {
    if (direction === 'up') return this.#size < this.#max && this.#largest >= this.#size
    return this.#size > 1 && this.#largest > 1
  }

  #postpone(direction: Direction): void {
    this.#trial = undefined
    this.#waits[direction] = this.#patience[direction]
    this.#patience[direction] = Math.min(mostPatience, this.#patience[direction] * 2)
  }
}
