import { setTimeout as pause } from 'node:timers/promises'

const first = 100
const longest = 5_000

/** The delay between two attempts to connect. An abort ends it early, without an error, and it keeps no process alive. */
export async function reconnectDelay(turn: number, signal: AbortSignal): Promise<void> {
  await pause(Math.min(longest, first * 2 ** turn), undefined, { signal, ref: false }).catch(() => {})
}
