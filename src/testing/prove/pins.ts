/** The clock and random values of one run. Both restart for every message, so a retry sees what the first attempt saw. */
export interface PinSettings {
  readonly clockMs: number
  readonly seed: number
}

export interface Pins {
  /** Advances by a millisecond with every read, so that waiting for it always ends. */
  nowMs(): number
  /** 0 ≤ x < 1. */
  random(): number
  fill(bytes: Uint8Array): void
}

export function pinsFor({ clockMs, seed }: PinSettings, who: string): Pins {
  let looks = 0
  const random = dice(seed ^ hash(who))
  return {
    nowMs: () => clockMs + looks++,
    random,
    fill(bytes) {
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256)
    },
  }
}

/** mulberry32: small, and random enough here. */
function dice(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}
