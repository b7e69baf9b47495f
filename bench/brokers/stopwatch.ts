/** Measures a backlog: from the first message that the client hands over until the last one is acknowledged. */
export interface Stopwatch {
  /** Milliseconds; rejects when the consumer has failed. */
  readonly done: Promise<number>
  arrived(): void
  acknowledged(messages: number): void
  failed(error: unknown): void
}

export function stopwatch(messages: number): Stopwatch {
  const { promise: done, resolve, reject } = Promise.withResolvers<number>()
  // A consumer may fail before anybody waits for it.
  done.catch(() => {})
  let begunAt: number | undefined
  let left = messages
  return {
    done,
    arrived() {
      begunAt ??= performance.now()
    },
    acknowledged(count) {
      left -= count
      if (left === 0 && begunAt !== undefined) resolve(performance.now() - begunAt)
    },
    failed: reject,
  }
}
