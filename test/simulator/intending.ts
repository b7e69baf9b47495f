import { DidNotHappen, type EffectOptions } from '../../src/index.ts'
import { callFaults, type PlannedFault } from './faults.ts'
import type { WayOut } from './outside.ts'
import { Random } from './random.ts'
import { retained } from './retained.ts'
import type { Scenario } from './scenario.ts'

/** What can be done about an unknown outcome. `named`: a key that several messages share, at a provider that honours keys. */
export const effectKinds = ['keyed', 'probed', 'bare', 'named'] as const
export type EffectKind = (typeof effectKinds)[number]

export interface Wish {
  readonly of: string
}

/** Steps that only an intent takes, and those in which it lives. */
const steps = ['prepare-outside', 'call-outside', 'ask-outside', 'reserve', 'rebook', 'take', 'change-parked', 'commit']

/** The same world with handlers that intend calls, and with faults where these are made. Nobody repairs what waits for a person. */
export function intending({ mendedAt, ...scenario }: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 22_695_477 + 17)
  const faults = Array.from(
    { length: random.pick([0, 1, 3, 8]) },
    (): PlannedFault => ({
      step: random.pick(steps),
      nth: random.below(random.pick([1, 6, 20])),
      fault: random.pick(callFaults),
    }),
  )
  return { ...scenario, intents: true, faults: [...scenario.faults, ...faults] }
}

/**
 * The same world in which the database's clock is ahead for a while: leases end early, and what is stored meanwhile is due late.
 * Nobody is frozen in it: a frozen call whose lease ends early may be repeated, and nothing can be done about it.
 */
export function intendingAhead(scenario: Scenario): Scenario {
  const { retention, restore, deployAt, sickUntil, ...calm } = intending(scenario)
  const random = new Random(scenario.seed * 22_695_477 + 19)
  return {
    ...calm,
    faults: calm.faults.filter(({ fault }) => !fault.startsWith('pause')),
    disasters: calm.disasters.filter(({ kind }) => kind !== 'freeze'),
    clock: {
      at: random.between(200, 4_000),
      aheadMs: random.between(10_000, 90_000),
      lastsMs: random.between(500, 20_000),
    },
  }
}

/** The same world in which records are removed, and with them what is known of the calls. */
export function intendingRetained(scenario: Scenario): Scenario {
  return intending(retained(scenario))
}

const settleMs = 5_000
const timeoutMs = 4_000
/** Longer than a lease and two questions take, so that others have repeated what the frozen one had begun. */
const longFreezeMs = 60_000
/** As long as it takes to hand a request over: who is frozen there for longer repeats what others have repeated. */
const inTheCallMs = 15_000

export function longestFreezeMs(step: string): number {
  return step === 'call-outside' ? inTheCallMs : longFreezeMs
}

/** An effect as a careful user writes it, at a provider that fails in its own ways. */
export function effectOf(kind: EffectKind, way: WayOut): EffectOptions<Wish, Wish> {
  const honoursKeys = kind === 'keyed' || kind === 'named'
  return {
    timeoutMs,
    retry: { attempts: 20, backoff: (attempt) => attempt * 300 },
    breaker: { after: 4, pauseMs: 500 },
    ...(honoursKeys && { keyed: true }),
    ...(kind === 'probed' && {
      settleMs,
      probe: async ({ payload }, { idempotencyKey }) =>
        (await way.ask(kind, idempotencyKey)) ? { status: 'happened', result: payload } : { status: 'did-not-happen' },
    }),
    async run({ key, payload: { of } }, { idempotencyKey, attempt, assertInTime }) {
      const trouble = attempt <= 2 ? troubleOf(kind, of) : undefined
      if (trouble === 'refused') throw new DidNotHappen('The provider refuses it for now.')
      await way.prepare().catch((cause: unknown) => {
        throw new DidNotHappen('There is no token.', { cause })
      })
      assertInTime()
      await way.call({ effect: kind, of, key, idempotencyKey }, honoursKeys)
      if (trouble === 'hangs') await new Promise(() => {})
      if (trouble === 'fails afterwards') throw new Error('The provider has answered 500.')
      return { of }
    },
  }
}

function troubleOf(kind: EffectKind, of: string): string | undefined {
  const sum = [...`${kind}${of}`].reduce((total, letter) => total + letter.charCodeAt(0), 0)
  return [undefined, undefined, undefined, 'refused', 'hangs', 'fails afterwards'][sum % 6]
}
