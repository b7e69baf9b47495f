/** Installed by its first user and removed by its last. */
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
