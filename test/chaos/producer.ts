import { setTimeout as pause } from 'node:timers/promises'
import type { World } from '../crash/world.ts'
import type { Random } from '../simulator/random.ts'

export interface ProducerOptions {
  readonly world: World
  readonly ratePerSecond: number
  readonly random: Random
  readonly signal: AbortSignal
}

const tickMs = 100
const patienceMs = 60_000
/** Of what is sent, this much is sent again: at once, a little later, or long after. */
const repeatedAtOnce = 0.1
const repeatedSoon = 0.1
const repeatedLate = 0.05

/** Sends new messages at a steady rate until the signal is aborted, and some of them more than once. */
export class Producer {
  messages = 0
  copies = 0
  readonly #options: ProducerOptions
  #soon: string[] = []
  /** How much waited when that could last be asked, and what has been sent since. */
  #queued = 0

  constructor(options: ProducerOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const { signal, ratePerSecond } = this.#options
    let due = 0
    while (!signal.aborted) {
      await pause(tickMs, undefined, { signal }).catch(() => {})
      // What cannot be worked off tests nothing but patience at the end.
      if (await this.#isTooMuch()) continue
      due += (ratePerSecond * tickMs) / 1_000
      const fresh = Array.from({ length: Math.floor(due) }, () => this.#newId())
      due -= fresh.length
      const again = this.#soon
      this.#soon = []
      await this.#send([...fresh, ...again, ...fresh.flatMap((id) => this.#repeats(id))])
    }
    await this.#send(this.#soon)
  }

  #newId(): string {
    return idOf(++this.messages)
  }

  #repeats(id: string): string[] {
    const { random } = this.#options
    if (random.chance(repeatedSoon)) this.#soon.push(id)
    const late = random.chance(repeatedLate) ? [idOf(random.between(1, this.messages))] : []
    return random.chance(repeatedAtOnce) ? [id, ...late] : late
  }

  async #isTooMuch(): Promise<boolean> {
    const { world, ratePerSecond } = this.#options
    // On a busy machine a killed server may be away for most of the time, and the queue would grow as long as nobody can be asked.
    this.#queued = await world.remaining().then(
      ({ queued }) => queued,
      () => this.#queued,
    )
    return this.#queued > ratePerSecond * 10
  }

  /** Until the broker has said yes. Where its answer was lost that makes more copies, as with any producer. */
  async #send(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const deadline = Date.now() + patienceMs
    for (;;) {
      try {
        await this.#options.world.send(ids)
        this.copies += ids.length
        this.#queued += ids.length
        return
      } catch (error) {
        if (Date.now() > deadline) throw error
        await pause(tickMs)
      }
    }
  }
}

function idOf(index: number): string {
  return `m${String(index).padStart(6, '0')}`
}
