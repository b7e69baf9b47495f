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

/**
 * At first a limit doubles after each window: one of which more is less work quickly, unless that makes it slower by more than
 * chance; one of which less is less work as long as that makes it clearly faster.
 */
const growth = {
  more: { ...window, batches: 2, leastMs: 0, mostOfBefore: 1.5 },
  less: { ...window, mostOfBefore: 0.9 },
}

/** One comparison may be chance: the machine has other things to do. */
const convincing = 2

/** What is clearly better wins, and of two that are about equal the one that is less work for the database. */
const betterThan = { more: { up: 1, down: 0.95 }, less: { up: 0.95, down: 1 } }

/** In windows. However often trials fail, one is made now and then: what collides today may not tomorrow. */
const mostPatience = 512

export interface TriedLimitOptions {
  readonly max: number
  readonly start: number
  /** Which of two is less work for the database. */
  readonly prefers: 'more' | 'less'
}

/**
 * How many messages a batch should have, or how many batches should run at once. Large batches save round trips and commits;
 * small ones wait less for each other's rows. Many at once use the time in which a connection waits; few compete less for
 * processors. What counts more depends on the network, the handlers and the data, so it is measured: a limit twice or half as
 * large takes turns with the present one for a while, and replaces it if more messages are handled in the same time.
 */
export class TriedLimit {
  readonly #max: number
  readonly #betterThan: Readonly<Record<Direction, number>>
  readonly #growth: (typeof growth)[keyof typeof growth]
  #size: number
  /** How long a message took before the last growth; `undefined` when the time of growth is over. */
  #growingFrom: number | undefined
  #trial: Trial | undefined
  /** How many windows to wait before the next trial, and after the next one that fails. */
  readonly #waits: Record<Direction, number> = { up: 1, down: 2 }
  readonly #patience: Record<Direction, number> = { up: 4, down: 4 }
  /** Where the window began; `undefined` before the first batch. */
  #from: Progress | undefined
  #batches = 0
  #largest = 0

  constructor({ max, start, prefers }: TriedLimitOptions) {
    this.#max = max
    this.#betterThan = betterThan[prefers]
    this.#size = Math.min(max, start)
    this.#growth = growth[prefers]
    this.#growingFrom = this.#size < max ? Number.POSITIVE_INFINITY : undefined
  }

  get limit(): number {
    return this.#trial?.isBeingUsed ? this.#trial.size : this.#size
  }

  /** A batch has ended. `size` is what was limited: how large it was, or how many were running. */
  ended(size: number, hadConflict: boolean, now: Progress): void {
    this.#batches++
    this.#largest = Math.max(this.#largest, size)
    this.#from ??= now
    const { messages, activeMs: beganMs } = this.#from
    const activeMs = now.activeMs - beganMs
    const { batches, leastMs, mostMs } = this.#isGrowing ? this.#growth : window
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
    const isWorse = costMs > (this.#growingFrom ?? 0) * this.#growth.mostOfBefore
    this.#size = isWorse ? Math.max(1, Math.floor(this.#size / 2)) : Math.min(this.#max, this.#size * 2)
    this.#growingFrom = isWorse || this.#size === this.#max ? undefined : costMs
  }

  #judge(trial: Trial, costMs: number): void {
    const { direction, size } = trial
    const lead = trial.lead + (costMs < trial.besideMs * this.#betterThan[direction] ? 1 : -1)
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
