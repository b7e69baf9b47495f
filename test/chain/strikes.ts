import { setTimeout as pause } from 'node:timers/promises'
import type { OwnServer } from '../servers/own-server.ts'
import type { Random } from '../simulator/random.ts'
import type { Service } from './service.ts'

/** A service or a server that is killed. */
export interface Victim {
  readonly name: string
  strike(random: Random): Promise<void>
}

/** Any of its processes: the service starts it again. */
export function serviceVictim(name: string, processes: readonly Service[]): Victim {
  return { name, strike: async (random) => await random.pick(processes).kill() }
}

/** It is away for a moment, and comes back with its data. */
export function serverVictim(server: OwnServer): Victim {
  return {
    name: server.name,
    async strike(random) {
      await server.kill9()
      await pause(random.between(100, 1_000))
      await server.restart()
    },
  }
}

/** Each of them once, in any order, and after that whichever: left to chance alone, a broker is never killed in a short run. */
export function planStrikes(victims: readonly Victim[], strikes: number, random: Random): readonly Victim[] {
  const once = victims.map((victim) => ({ victim, at: random.next() })).sort((a, b) => a.at - b.at)
  return Array.from({ length: strikes }, (_, index) => once[index]?.victim ?? random.pick(victims))
}
