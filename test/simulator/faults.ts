import type { SimProcess } from './process.ts'
import type { Random } from './random.ts'

export const callFaults = [
  'die-before',
  'die-after',
  'vanish-before',
  'vanish-after',
  'cut-before',
  'cut-after',
  'pause-before',
  'pause-after',
  'slow',
] as const

/**
 * What can happen at a call from a process to a server. `before`: the server never sees it. `after`: the server has
 * done it and the answer does not arrive. `vanish`: the host is gone without closing its connections. `refused`: the
 * server does nothing but say no, and the connection lives; that is planned for openings only.
 */
export type CallFault = (typeof callFaults)[number] | 'refused'

/** The steps of a process, by name: what crosses the network. */
export const steps = [
  'begin',
  'claim',
  'look',
  'query',
  'part',
  'undo',
  'release',
  'update',
  'park',
  'send',
  'commit',
  'rollback',
  'ack',
  'reserve',
  'follow',
  'rebook',
  'lock-order',
  'look-at-order',
  'read-facts',
  'change-facts',
  'remove-facts',
  'load-positions',
  'move-positions',
  'edit-parked',
  'take',
  'change-parked',
  'take-queued',
  'publish',
  'remove-queued',
  'ping',
] as const

/** The nth call of a run meets this fault; or, with a step, the nth call of that step, so that rare steps are hit too. */
export interface PlannedFault {
  readonly nth: number
  readonly step?: string
  readonly fault: CallFault
}

/** Gives each call its fault, counts them, and remembers which steps have met which faults. */
export class Faults {
  readonly covered = new Map<string, number>()
  readonly steps = new Set<string>()
  readonly #plan: ReadonlyMap<string, CallFault>
  readonly #calls = new Map<string, number>()
  /** Faults stop when the world heals, so that everything has a chance to come to its end. */
  healed = false

  constructor(plan: readonly PlannedFault[]) {
    this.#plan = new Map(plan.map(({ nth, step = 'any', fault }) => [`${step} ${nth}`, fault]))
  }

  next(process: SimProcess, step: string): CallFault | undefined {
    this.steps.add(step)
    if (this.healed || !process.isAlive) return undefined
    const fault = this.#planned(step) ?? this.#planned('any')
    if (fault === undefined) return undefined
    const pair = `${step} × ${fault}`
    this.covered.set(pair, (this.covered.get(pair) ?? 0) + 1)
    return fault
  }

  #planned(step: string): CallFault | undefined {
    const nth = this.#calls.get(step) ?? 0
    this.#calls.set(step, nth + 1)
    return this.#plan.get(`${step} ${nth}`)
  }
}

export function planFaults(random: Random, calls: number, count: number): PlannedFault[] {
  return Array.from({ length: count }, () => {
    const fault = random.pick(callFaults)
    if (random.chance(0.5)) return { nth: random.below(calls), fault }
    return { nth: random.below(random.pick([1, 4, 20])), step: random.pick(steps), fault }
  })
}
