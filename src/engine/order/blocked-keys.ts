import { JustonceError } from '../../errors/index.ts'
import type { RunOutcome } from '../items.ts'

/** What this process knows of keys whose messages wait behind a dead letter. */
export class BlockedKeys {
  /** Those behind which no more may wait. */
  #full: ReadonlySet<string> = new Set()
  #onGrown = (): void => {}

  /** The given function is called when a message was parked behind another. */
  watchedBy(onGrown: () => void): void {
    this.#onGrown = onGrown
  }

  grown(): void {
    this.#onGrown()
  }

  learn(full: readonly { readonly handler: string; readonly orderKey: string }[]): void {
    this.#full = new Set(full.map(({ handler, orderKey }) => nameOf(handler, orderKey)))
  }

  /** A row of this key was done, so somebody has taken care of it: until the next look nobody knows how many are left. */
  moved(handler: string, orderKey: string): void {
    const name = nameOf(handler, orderKey)
    if (this.#full.has(name)) this.#full = new Set([...this.#full].filter((each) => each !== name))
  }

  /** The outcome of a message that would have to wait behind too many. It keeps its place among the messages of its key. */
  tooManyBehind(handler: string, orderKey: string): RunOutcome | undefined {
    if (!this.#full.has(nameOf(handler, orderKey))) return undefined
    const message = `So many messages of the key ${orderKey} wait behind a dead letter of ${handler} that no more may.`
    const error = new JustonceError('TOO_MANY_BEHIND', { message })
    return { kind: 'failed', error, verdict: { state: 'dead', reason: error.code, attempts: 0, delayMs: 0 } }
  }
}

function nameOf(handler: string, orderKey: string): string {
  return `${handler}\0${orderKey}`
}
