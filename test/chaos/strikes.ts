import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../simulator/random.ts'
import { type Fault, type FaultKind, faults } from './faults.ts'
import type { Place } from './place.ts'
import type { Slot } from './slot.ts'

export interface StrikeOptions {
  readonly place: Place
  readonly slots: readonly Slot[]
  readonly random: Random
  readonly signal: AbortSignal
  /** On average. */
  readonly everyMs: number
  /** Only these, where given. */
  readonly kinds?: readonly FaultKind[] | undefined
  /** Who may be hit now, if it is free. */
  isTarget(slot: Slot): boolean
  begun(fault: Fault, slot: Slot): void
  over(fault: Fault, slot: Slot, at: number): void
}

/** Breaks things at random until the signal is aborted. Resolves when everything is whole again. */
export async function strikeAtRandom(options: StrikeOptions): Promise<void> {
  const { slots, random, signal, everyMs } = options
  const underWay = new Set<Promise<void>>()
  const hittingAll = new Set<FaultKind>()
  let deck: Fault[] = []

  while (!signal.aborted) {
    await pause(everyMs * (0.1 + 1.8 * random.next()), undefined, { signal }).catch(() => {})
    const free = slots.filter((slot) => !slot.isTaken && options.isTarget(slot))
    if (signal.aborted || free.length === 0) continue
    if (deck.length === 0) deck = newDeck(options)
    const fault = deck.pop() as Fault
    if (hittingAll.has(fault.kind)) {
      deck.unshift(fault)
      continue
    }
    if (fault.hitsAll) hittingAll.add(fault.kind)
    const strike = hit(options, fault, random.pick(free)).finally(() => {
      hittingAll.delete(fault.kind)
      underWay.delete(strike)
    })
    // Reported below; until then it must not be an unhandled one.
    strike.catch(() => {})
    underWay.add(strike)
  }
  await Promise.all(underWay)
}

/** Every kind comes up before any comes up again as often, so that a short run has them all. */
function newDeck({ place, random, kinds }: StrikeOptions): Fault[] {
  const possible = faults.filter((fault) => fault.isPossible(place) && (kinds?.includes(fault.kind) ?? true))
  const cards = possible.flatMap((fault) => Array.from({ length: fault.weight }, () => fault))
  const dealt = cards.map((fault) => ({ fault, order: random.next() }))
  return dealt.sort((a, b) => a.order - b.order).map(({ fault }) => fault)
}

async function hit({ place, random, signal, begun, over }: StrikeOptions, fault: Fault, slot: Slot): Promise<void> {
  if (!fault.hitsAll) slot.isTaken = true
  begun(fault, slot)
  const at = await fault.strike({ place, slot, random, signal })
  if (!fault.hitsAll) slot.isTaken = false
  over(fault, slot, at)
}
