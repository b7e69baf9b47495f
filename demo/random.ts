/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export type Random = () => number

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function wholeNumber(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1))
}

export function shuffle<T>(items: T[], random: Random): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = wholeNumber(random, 0, last)
    const moved = items[last] as T
    items[last] = items[other] as T
    items[other] = moved
  }
  return items
}
