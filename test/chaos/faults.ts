import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../simulator/random.ts'
import type { Place } from './place.ts'
import type { Slot } from './slot.ts'

export type FaultKind = 'kill' | 'stop' | 'cut' | 'slow' | 'half-close' | 'refuse' | 'server-kill' | 'disk-full'

export interface Circumstances {
  readonly place: Place
  readonly slot: Slot
  readonly random: Random
  /** Aborted at the end of the run: then whatever lasts is over at once. */
  readonly signal: AbortSignal
}

export interface Fault {
  readonly kind: FaultKind
  readonly title: string
  /** Of all processes rather than of one: it happens to nobody twice at the same time. */
  readonly hitsAll: boolean
  /** How many of them are in a deck. */
  readonly weight: number
  isPossible(place: Place): boolean
  /** Resolves when everything is as it was before, to the moment from which on it could recover. */
  strike(circumstances: Circumstances): Promise<number>
}

const hasNetwork = ({ proxies }: Place): boolean => proxies.length > 0

/** Something that begins, lasts and is taken back, whatever happens meanwhile. */
function lasting(
  [low, high]: readonly [number, number],
  begin: (circumstances: Circumstances) => unknown,
  end: (circumstances: Circumstances) => unknown,
): Fault['strike'] {
  return async (circumstances) => {
    const { random, signal } = circumstances
    const lastsMs = random.between(low, high)
    await begin(circumstances)
    await pause(lastsMs, undefined, { signal }).catch(() => {})
    const overAt = performance.now()
    await end(circumstances)
    return overAt
  }
}

export const faults: readonly Fault[] = [
  {
    kind: 'kill',
    title: 'kills',
    hitsAll: false,
    weight: 3,
    isPossible: () => true,
    async strike({ slot }) {
      const killedAt = performance.now()
      await slot.kill()
      return killedAt
    },
  },
  {
    kind: 'stop',
    title: 'stops',
    hitsAll: false,
    weight: 2,
    isPossible: () => true,
    // Shorter and longer than what it has taken stays hidden, and than its transaction may stay silent.
    strike: lasting(
      [100, 4_000],
      ({ slot }) => slot.signal('SIGSTOP'),
      ({ slot }) => slot.signal('SIGCONT'),
    ),
  },
  {
    kind: 'cut',
    title: 'cuts',
    hitsAll: false,
    weight: 2,
    isPossible: hasNetwork,
    async strike({ slot }) {
      slot.proxy?.cutAll()
      return performance.now()
    },
  },
  {
    kind: 'slow',
    title: 'slow links',
    hitsAll: false,
    weight: 1,
    isPossible: hasNetwork,
    strike: lasting(
      [500, 3_000],
      ({ slot, random }) => slot.proxy?.slow(random.between(10, 150)),
      ({ slot }) => slot.proxy?.slow(0),
    ),
  },
  {
    kind: 'half-close',
    title: 'half-closes',
    hitsAll: false,
    weight: 1,
    isPossible: hasNetwork,
    // Shorter and longer than the clients wait for an answer.
    strike: lasting(
      [300, 5_000],
      ({ slot }) => slot.proxy?.halfClose(),
      ({ slot }) => slot.proxy?.cutAll(),
    ),
  },
  {
    kind: 'refuse',
    title: 'refusals',
    hitsAll: false,
    weight: 1,
    isPossible: hasNetwork,
    strike: lasting(
      [200, 3_000],
      async ({ slot: { proxy } }) => {
        await proxy?.refuse()
        proxy?.cutAll()
      },
      ({ slot }) => slot.proxy?.accept(),
    ),
  },
  {
    kind: 'server-kill',
    title: 'server kills',
    hitsAll: true,
    weight: 1,
    isPossible: ({ server }) => server !== undefined,
    strike: lasting(
      [0, 1_500],
      ({ place }) => place.server?.kill9(),
      ({ place }) => place.server?.restart(),
    ),
  },
  {
    kind: 'disk-full',
    title: 'full disks',
    hitsAll: true,
    weight: 2,
    isPossible: ({ disk }) => disk !== undefined,
    strike: lasting(
      [200, 3_000],
      ({ place }) => place.disk?.fill(),
      ({ place }) => place.disk?.free(),
    ),
  },
]
