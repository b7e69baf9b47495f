import type { EffectFault } from './faults.ts'

/** How an intent has ended: `person` means that somebody must decide, and `open` that it has not ended at all. */
export type EffectEnd = 'done' | 'person' | 'given-up' | 'discarded' | 'open'

/** One fault, and what came of it. */
export interface EffectProofRow {
  readonly fault: EffectFault
  /** How often the provider has done it. */
  readonly happened: number
  readonly ended: EffectEnd
  readonly holds: boolean
}

/** What `proveEffect()` has found. */
export interface EffectProof {
  /** Whether the promise was kept under every fault. */
  readonly holds: boolean
  /** What the options of the effect promise. */
  readonly promise: EffectPromise
  readonly rows: readonly EffectProofRow[]
  /** All of it, to be printed. */
  readonly text: string
}

/** How often a call may happen, by the options of its effect. */
export type EffectPromise = 'once' | 'at most once' | 'at least once'

/** Whether this end keeps the promise. Undisturbed, every call is made once. */
export function keeps(promise: EffectPromise, { fault, happened, ended }: Omit<EffectProofRow, 'holds'>): boolean {
  if (fault === 'none' || promise === 'once') return happened === 1 && ended === 'done'
  if (promise === 'at least once') return happened >= 1 && ended === 'done'
  return happened <= 1 && (ended === 'person' || ended === 'discarded' || (ended === 'done' && happened === 1))
}

export function proofOf(promise: EffectPromise, rows: readonly EffectProofRow[]): EffectProof {
  const lines = rows.map(
    ({ fault, happened, ended, holds }) =>
      `  ${holds ? '✓' : '✗'} ${fault.padEnd(24)} happened ${happened} time${happened === 1 ? ' ' : 's'}  ${ended}`,
  )
  const hints = rows
    .filter(({ holds }) => !holds)
    .map(({ fault, happened }) => `  ${fault}: ${hintOf(fault, happened)}`)
  const text = [`It should happen ${promise}.`, ...lines, ...hints].join('\n')
  return { holds: rows.every(({ holds }) => holds), promise, rows, text }
}

function hintOf(fault: EffectFault, happened: number): string {
  if (fault === 'none')
    return 'Without any fault it must happen once. Does happened() count the right thing, and reset() empty it?'
  if (fault === 'frozen-before-the-call' && happened > 1)
    return 'The process slept while another one made the call. Call assertInTime() directly before the request, or use a key that the provider honours.'
  if (happened > 1)
    return 'The call was repeated, and the provider has done it again. Does it honour the idempotency key? Does the probe find what has happened?'
  return 'Nobody has noticed that it did not happen. Does the probe say so?'
}
