import type { OperableStore } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { checkOperable } from '../operations/site.ts'

/** An engine on a store whose dead letters people can work on. */
export type OperableEngine<Tx> = Engine<Tx> & { readonly store: OperableStore<Tx> }

export function operableEngine<Tx>(engine: Engine<Tx>): OperableEngine<Tx> {
  checkOperable(engine.store)
  return engine as OperableEngine<Tx>
}
