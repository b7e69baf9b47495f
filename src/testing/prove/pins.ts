/** The clock and the dice of one run. Both start anew for every message, so that a retry sees what the first try saw. */
export interface PinSettings {
  readonly clockMs: number
  readonly seed: number
}

export interface Pins {
  /** Goes on by a millisecond with every look, so that nobody waits for it in vain. */
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

/** mulberry32: small, and good enough to look like chance. */
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
