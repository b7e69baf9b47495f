/** Put in place by the first who needs it, and taken away by the last. */
export function sharedPatch(install: () => () => void): () => () => void {
  let users = 0
  let remove = (): void => {}
  return () => {
    if (users++ === 0) remove = install()
    return () => {
      if (--users === 0) remove()
    }
  }
}
