/** Ends the process with this error: a benchmark that goes on after a failure would hide it. */
export function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
