/** Settles like the work, or rejects with the signal's reason as soon as it is aborted, even if the work never settles. */
export function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work()
  return new Promise<T>((resolve, reject) => {
    signal.throwIfAborted()
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    work()
      .finally(() => signal.removeEventListener('abort', abort))
      .then(resolve, reject)
  })
}
