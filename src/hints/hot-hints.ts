import { hash } from 'node:crypto'
import type { ClaimRequest, Hints } from '../contracts/index.ts'
import type { Hot } from './hot.ts'

export interface HotSettings {
  readonly prefix: string
  readonly lifeMs: number
  readonly timeoutMs: number
  readonly restMs: number
}

/**
 * Queries and fills the hot side. Any problem there costs only speed: an error or a slow answer means "not known".
 * After that, the hot side is not used for a while, or for as long as a call hangs.
 */
export class HotHints implements Hints {
  readonly #hot: Hot
  readonly #settings: HotSettings
  #restUntil = Number.NEGATIVE_INFINITY
  #hanging = 0

  constructor(hot: Hot, settings: HotSettings) {
    this.#hot = hot
    this.#settings = settings
  }

  async known(requests: readonly ClaimRequest[], epoch: string): Promise<readonly boolean[]> {
    const keys = requests.map((request) => this.#keyOf(request, epoch))
    const values = await this.#carefully(() => this.#hot.get(keys))
    return requests.map((request, place) => values?.[place] === entryOf(keys[place] as string, request))
  }

  committed(requests: readonly ClaimRequest[], epoch: string): void {
    const entries = requests.map((request) => {
      const key = this.#keyOf(request, epoch)
      return [key, entryOf(key, request)] as const
    })
    void this.#carefully(() => this.#hot.set(entries, this.#settings.lifeMs))
  }

  /** The epoch is part of the key: entries of another epoch are never found again. */
  #keyOf({ handler, key }: ClaimRequest, epoch: string): string {
    return `${this.#settings.prefix}${JSON.stringify([epoch, handler, key])}`
  }

  /** Never rejects. */
  async #carefully<T>(call: () => Promise<T>): Promise<T | undefined> {
    const { timeoutMs, restMs } = this.#settings
    if (this.#hanging > 0 || performance.now() < this.#restUntil) return undefined
    const rest = (): undefined => {
      this.#restUntil = performance.now() + restMs
    }
    const late = Promise.withResolvers<undefined>()
    let answer: Promise<T>
    try {
      answer = call()
    } catch {
      return rest()
    }
    let isOver = false
    const giveUp = (): void => {
      if (isOver) return
      this.#hanging++
      const settled = (): void => void this.#hanging--
      answer.then(settled, settled)
      late.resolve(rest())
    }
    // One more turn of the event loop: if this process itself was busy, the answer may already be there.
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs)
    try {
      return await Promise.race([answer, late.promise])
    } catch {
      return rest()
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }
}

/**
 * Only the store may decide that a key was reused for different content. The entry includes a hash of its
 * key, because other users of the connection can make a client return the answer to another request.
 */
function entryOf(key: string, { fingerprint }: ClaimRequest): string {
  const content = fingerprint === undefined ? '-' : `=${Buffer.from(fingerprint).toString('base64')}`
  return `${content} ${hash('sha256', key, 'base64url').slice(0, 22)}`
}
