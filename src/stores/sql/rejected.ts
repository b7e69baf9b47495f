/** A rejection that is not an unhandled one, should nobody look at it. */
export function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(() => {})
  return promise
}
