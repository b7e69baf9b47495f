/**
 * Does something that needs any connection that works. What has ended one connection may have ended all that are in the pool, and each
 * attempt removes one of those. Never rejects: nobody waits for it.
 */
export async function withSomeConnection(
  connections: number,
  work: () => Promise<unknown>,
  isLost: (error: unknown) => boolean,
): Promise<void> {
  for (let turn = 0; turn <= connections; turn++) {
    try {
      await work()
      return
    } catch (error) {
      if (!isLost(error)) return
    }
  }
}
