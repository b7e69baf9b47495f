import type { FaultKind } from './faults.ts'
import type { Slot } from './slot.ts'

export interface RecoveryTimes {
  readonly kind: FaultKind
  readonly measured: number
  readonly medianMs: number
  readonly worstMs: number
}

interface Recovering {
  readonly kind: FaultKind
  /** Undefined: any process will do. */
  readonly slot: Slot | undefined
  readonly since: number
}

/** How long it takes from the end of a fault to the first commit of the process that it hit. */
export class Recoveries {
  readonly #times = new Map<FaultKind, number[]>()
  #waiting: Recovering[] = []

  /** Hit again before it had recovered: the time of the first would be that of the second. */
  interrupted(slot: Slot | undefined): void {
    this.#waiting = slot === undefined ? [] : this.#waiting.filter((each) => each.slot !== slot)
  }

  begun(kind: FaultKind, slot: Slot | undefined, since: number): void {
    this.#waiting.push({ kind, slot, since })
  }

  committed(slot: Slot): void {
    const recovered = this.#waiting.filter((each) => each.slot === undefined || each.slot === slot)
    if (recovered.length === 0) return
    this.#waiting = this.#waiting.filter((each) => !recovered.includes(each))
    for (const { kind, since } of recovered) {
      const times = this.#times.get(kind) ?? []
      this.#times.set(kind, times)
      times.push(performance.now() - since)
    }
  }

  get measured(): number {
    return [...this.#times.values()].flat().length
  }

  summary(): RecoveryTimes[] {
    return [...this.#times].map(([kind, times]) => {
      const sorted = times.toSorted((a, b) => a - b)
      const at = (index: number): number => Math.round(sorted[index] as number)
      return { kind, measured: sorted.length, medianMs: at((sorted.length - 1) >> 1), worstMs: at(sorted.length - 1) }
    })
  }
}
