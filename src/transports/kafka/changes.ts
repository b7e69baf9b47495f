/** Lets loops sleep until something may have changed; a change that comes just before the sleep is not missed. */
export interface Changes {
  /** To be read before looking at what may change. */
  seen(): number
  announce(): void
  /** Resolves when something has changed since, or after `ms`. */
  since(seen: number, ms?: number): Promise<void>
}

export function changes(): Changes {
  const waiting = new Set<() => void>()
  let count = 0
  return {
    seen: () => count,
    announce() {
      count++
      for (const wake of [...waiting]) wake()
    },
    since: (seen, ms) =>
      new Promise((resolve) => {
        if (count !== seen) return resolve()
        const timer = ms === undefined ? undefined : setTimeout(() => wake(), ms)
        const wake = (): void => {
          clearTimeout(timer)
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      }),
  }
}
