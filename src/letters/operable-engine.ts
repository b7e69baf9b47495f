import type { OperableStore } from '../contracts/index.ts'
import type { Engine } from '../engine/engine.ts'
import { JustonceError } from '../errors/index.ts'

/** An engine on a store whose dead letters people can work on. */
export type OperableEngine<Tx> = Engine<Tx> & { readonly store: OperableStore<Tx> }

export function operableEngine<Tx>(engine: Engine<Tx>): OperableEngine<Tx> {
  const { name, letters, redrives, audit } = engine.store
  if (letters !== undefined && redrives !== undefined && audit !== undefined) return engine as OperableEngine<Tx>
  throw new JustonceError('STORE_CANNOT', {
    message: `The store ${name} can keep dead letters, but not search, redrive or discard them.`,
  })
}
