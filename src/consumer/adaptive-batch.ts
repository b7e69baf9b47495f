import type { Delivery } from '../contracts/index.ts'
import { BatchInTurn } from './batch-in-turn.ts'
import type { Progress } from './crowding.ts'
import { TypePace } from './type-pace.ts'

export interface BatchOptions {
  /** The largest batch. */
  readonly max: number
  /** The largest batch of messages that together take about as long as one. Default: `max`. */
  readonly gatheredMax?: number
  /** Batches are sized so that each should take about this long. */
  readonly budgetMs: number
  /** The size of the first batches. Default: one message. */
  readonly start?: number
}

export interface EndedBatch {
  readonly handled: readonly Delivery[]
  /** How many messages it had at its beginning. */
  readonly size: number
  /** Without the time in which it waited for its turn. */
  readonly tookMs: number
  /** For how long it waited until its handlers might be called. */
  readonly waitedMs: number
  /** How much of that was spent on the transaction and the acknowledgement rather than on the messages. */
  readonly overheadMs: number
  readonly conflicts: number
  readonly failures: number
}

const typesRemembered = 1_000

/** How many messages the average speed is taken of. */
const messagesRemembered = 100

/** How many messages of unknown speed are expected to fit into a batch. */
const unknownSize = 8

/** Batches start so small that they hold nothing for long, and double as long as they do not wait for each other. */
const firstSize = 1

/** What would take less than so many times the overhead of a batch is not spread over idle workers. */
const worthABatch = 4

/** In usual batches. */
const patientFor = 3

/** Below, a pause of the garbage collector would look like a conflict. */
const shortestLockTimeoutMs = 25

/**
 * Decides how many of the waiting deliveries go into the next batch. It never waits for more: batches grow under load.
 * While handlers are slow, the waiting deliveries are spread over all idle workers; while they are fast, they are
 * gathered.
 */
export class AdaptiveBatch {
  readonly #options: BatchOptions
  readonly #isGathered: (type: string) => boolean
  readonly #paces = new Map<string, TypePace>()
  /** Moving average of the time one message takes, whatever its type. Unknown at first. */
  #messageMs: number | undefined
  /** Of how many messages, as far as that matters. */
  #measured = 0
  /** Moving average of the time a whole batch takes. Unknown at first. */
  #batchMs: number | undefined
  /** Moving average of the time a batch takes besides its messages. Unknown at first. */
  #overheadMs: number | undefined
  /** How many messages the last batch could have had. */
  #largest: number

  /** `isGathered`: whether the handlers of a type take many messages in about the time of one. */
  constructor(options: BatchOptions, isGathered: (type: string) => boolean = () => false) {
    this.#options = options
    this.#largest = options.max
    this.#isGathered = isGathered
  }

  /** Whether there is a type of which no further batch may begin now. */
  get isHoldingBack(): boolean {
    for (const { mayBegin } of this.#paces.values()) if (!mayBegin) return true
    return false
  }

  /** Whether a batch with messages of this type may begin now. */
  mayBegin(type: string): boolean {
    return this.#paces.get(type)?.mayBegin !== false
  }

  /** A batch with messages of these types begins. Say when it has ended. */
  begin(types: Iterable<string>): BatchInTurn {
    return new BatchInTurn(
      Array.from(types)
        .sort()
        .map((type) => this.#pace(type)),
    )
  }

  /**
   * Returns a function that says for one candidate after the other whether it goes into the batch. `idle` includes the
   * worker that takes the batch.
   */
  chooser(candidates: Iterable<Delivery>, idle: number): (delivery: Delivery) => boolean {
    const shareMs = this.#share(candidates, idle)
    let limit = Number.POSITIVE_INFINITY
    let expectedMs = 0
    let size = 0
    let isMeasured = false
    return ({ message }) => {
      const pace = this.#pace(message.type ?? '')
      limit = Math.min(limit, pace.limit)
      if (size > 0 && (size >= limit || expectedMs + pace.messageMs > shareMs)) return false
      // Its speed is unknown, so messages with a known speed must not wait for it.
      if (size > 0 && pace.isMeasured !== isMeasured) return false
      isMeasured = pace.isMeasured
      expectedMs += pace.messageMs
      size++
      return true
    }
  }

  /** Learns from a batch that has ended: what was handled of it, how long that took, and what the consumer has done so far. */
  learn({ handled, size, tookMs, waitedMs, overheadMs, conflicts, failures }: EndedBatch, progress: Progress): void {
    if (handled.length === 0) return
    if (conflicts === 0) this.#batchMs = moved(this.#batchMs, tookMs, 1 / 8)
    this.#overheadMs = moved(this.#overheadMs, overheadMs, 1 / 16)
    this.#measured = Math.min(messagesRemembered, this.#measured + handled.length)
    const weight = Math.min(1 / 4, handled.length / messagesRemembered)
    // Until there are so many, all weigh the same: a slow message must not count for all of them because it was the first.
    this.#messageMs = moved(this.#messageMs, tookMs / handled.length, Math.max(weight, handled.length / this.#measured))
    const messageMs = Math.max(0, tookMs - overheadMs) / handled.length
    const ended = { size, tookMs, waitedMs, overheadMs, hadConflict: conflicts > 0, hadFailure: failures > 0 }
    const paces = Array.from(new Set(handled.map(({ message }) => message.type ?? '')), (type) => this.#pace(type))
    for (const pace of paces) pace.learn(ended, messageMs, progress)
    this.#largest = Math.max(this.#options.max, ...paces.map(({ limit }) => limit))
  }

  /** For how long a batch waits for rows: whoever holds them for several times as long as a batch takes is probably waiting for us. */
  get lockTimeoutMs(): number {
    const { budgetMs } = this.#options
    return Math.min(budgetMs, Math.max(shortestLockTimeoutMs, patientFor * (this.#batchMs ?? shortestLockTimeoutMs)))
  }

  get isMeasured(): boolean {
    return this.#messageMs !== undefined
  }

  /** How many messages one worker handles within the budget of a batch. */
  get usualSize(): number {
    const { budgetMs } = this.#options
    const size = this.#messageMs === undefined ? unknownSize : budgetMs / Math.max(this.#messageMs, 0.001)
    return Math.max(1, Math.min(this.#largest, Math.floor(size)))
  }

  #share(candidates: Iterable<Delivery>, idle: number): number {
    const { budgetMs } = this.#options
    if (idle <= 1) return budgetMs
    let expectedMs = 0
    for (const { message } of candidates) {
      const { messageMs, isGathered } = this.#pace(message.type ?? '')
      expectedMs += messageMs
      if (isGathered || expectedMs >= budgetMs * idle) return budgetMs
    }
    return Math.max((this.#overheadMs ?? 0) * worthABatch, expectedMs / idle)
  }

  /** A new type starts with small batches until its time is known: a slow handler must not hold locks for seconds. */
  #pace(type: string): TypePace {
    let pace = this.#paces.get(type)
    if (pace === undefined) {
      // Types come from outside: a sender that invents new ones must not fill the memory.
      if (this.#paces.size >= typesRemembered) this.#paces.clear()
      const { max, gatheredMax, budgetMs, start = firstSize } = this.#options
      const isGathered = this.#isGathered(type)
      pace = new TypePace({ max, gatheredMax, start, guessMs: budgetMs / unknownSize, isGathered })
      this.#paces.set(type, pace)
    }
    return pace
  }
}

function moved(average: number | undefined, value: number, weight: number): number {
  return average === undefined ? value : average + (value - average) * weight
}
