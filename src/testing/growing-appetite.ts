import type { Appetite } from '../contracts/index.ts'

/** An appetite controlled by the test. */
export function growingAppetite(now: number): { readonly appetite: Appetite; want(count: number): void } {
  const wakes = new Set<() => void>()
  let wanted = now
  const appetite: Appetite = {
    now: () => wanted,
    onGrown(wake) {
      wakes.add(wake)
      return () => void wakes.delete(wake)
    },
  }
  return {
    appetite,
    want(count) {
      wanted = count
      for (const wake of wakes) wake()
    },
  }
}
