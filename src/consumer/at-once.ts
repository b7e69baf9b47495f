/** Two keep the processor busy: one prepares while the database works for the other. */
const fewest = 2

/** Above, this process is the bottleneck, and more batches at once only make them smaller. Below, it waits for the database. */
const busy = { fewer: 0.9, more: 0.75 }

const windowMs = 20

/**
 * How many batches run at once. While this process waits for the database or the network, as many as there are connections.
 * While its processor is busy, more at once are no faster, but fewer and larger ones cost less for each message.
 */
export class AtOnce {
  readonly #max: number
  readonly #busyMs: () => number
  #limit: number
  #from: { readonly atMs: number; readonly busyMs: number } | undefined

  /** `busyMs`: for how long this process has been busy. */
  constructor(max: number, busyMs: () => number) {
    this.#max = max
    this.#limit = max
    this.#busyMs = busyMs
  }

  get limit(): number {
    return this.#limit
  }

  /** A batch has ended at this time. */
  ended(nowMs: number): void {
    this.#from ??= { atMs: nowMs, busyMs: this.#busyMs() }
    const tookMs = nowMs - this.#from.atMs
    if (tookMs < windowMs) return
    const busyMs = this.#busyMs()
    const share = (busyMs - this.#from.busyMs) / tookMs
    if (share > busy.fewer) this.#limit = Math.max(Math.min(fewest, this.#max), Math.floor(this.#limit * 0.75))
    else if (share < busy.more) this.#limit = Math.min(this.#max, Math.ceil(this.#limit * 1.5))
    this.#from = { atMs: nowMs, busyMs }
  }
}
