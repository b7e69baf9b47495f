import { setTimeout as pause } from 'node:timers/promises'

const first = 100
const longest = 5_000

/** Between two attempts to connect; it ends early, without an error, when the signal says so, and keeps no process alive. */
export async function reconnectDelay(turn: number, signal: AbortSignal): Promise<void> {
  await pause(Math.min(longest, first * 2 ** turn), undefined, { signal, ref: false }).catch(() => {})
}
