/** The least and the most time for which an answer is given again. */
const leastMs = 500
const mostMs = 10_000

/**
 * What costs the store much is asked once for everybody who wants to know it at about the same time: counting a million rows takes
 * as long for each of ten open pages. The longer an answer took, the longer it is good, so that asking never keeps the store busy.
 */
export class SharedAnswers {
  readonly #answers = new Map<string, { readonly answer: Promise<unknown>; until: number }>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get(question: string, ask: () => Promise<unknown>): Promise<unknown> {
    const askedAt = this.#now()
    for (const [name, { until }] of this.#answers) if (until <= askedAt) this.#answers.delete(name)
    const known = this.#answers.get(question)
    if (known !== undefined) return known.answer
    const answer = ask()
    // While nobody knows how long it takes, everybody waits for the same one.
    const entry = { answer, until: Number.POSITIVE_INFINITY }
    this.#answers.set(question, entry)
    const drop = (): void => {
      if (this.#answers.get(question) === entry) this.#answers.delete(question)
    }
    answer.then(() => {
      const tookMs = this.#now() - askedAt
      entry.until = this.#now() + Math.min(mostMs, Math.max(leastMs, 4 * tookMs))
    }, drop)
    return answer
  }

  /** Somebody has changed something, and wants to see it. */
  forget(): void {
    this.#answers.clear()
  }
}
