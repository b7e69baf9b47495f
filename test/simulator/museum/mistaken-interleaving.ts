import { type FailedCall, Interleaving } from '../../../src/engine/calls/interleaving.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'
import { onStore } from './broken-stores.ts'

type Tx = SimTx
type Divide = Interleaving<Tx>['divide']
type RolledBackBy = Interleaving<Tx>['rolledBackBy']

interface Mistake {
  divide?(given: { readonly executions: Parameters<Divide>[1] }): ReturnType<Divide>
  rolledBackBy?(given: {
    readonly failures: readonly FailedCall<Tx>[]
    /** The runs of the last call of the batch. */
    readonly latest: FailedCall<Tx>['execution']['runs']
  }): ReturnType<RolledBackBy>
}

/** Stores whose apps make the mistake. */
const mistaken = new WeakMap<object, Mistake>()

/** The engine is not open to such mistakes from outside, so they are made inside, for apps on these stores alone. */
export function onInterleaving(mistake: Mistake): Program {
  return onStore((store) => {
    const own = { ...store }
    mistaken.set(own, mistake)
    return own
  })
}

const { prototype } = Interleaving as { prototype: Interleaving<Tx> }
const { divide, rolledBackBy, run } = prototype
const lastOf = new WeakMap<object, { mistake: Mistake; latest: FailedCall<Tx>['execution']['runs'] }>()
prototype.divide = function (engine, executions, permits) {
  const mistake = mistaken.get(engine.store)
  return mistake?.divide?.({ executions }) ?? divide.call(this, engine, executions, permits)
}
prototype.run = function (engine, chains, call) {
  const mistake = mistaken.get(engine.store)
  if (mistake !== undefined) lastOf.set(this, { mistake, latest: chains.at(-1)?.at(-1)?.runs ?? [] })
  return run.call(this, engine, chains, call)
}
prototype.rolledBackBy = function (failures) {
  const { mistake, latest = [] } = lastOf.get(this) ?? {}
  return mistake?.rolledBackBy?.({ failures, latest }) ?? rolledBackBy.call(this, failures)
}
