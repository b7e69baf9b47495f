/** The query builders of some libraries are not promises, and do nothing until they are awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'
}
