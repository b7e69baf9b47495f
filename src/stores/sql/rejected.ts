/** A rejected promise that causes no unhandled rejection if nobody awaits it. */
export function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(() => {})
  return promise
}
