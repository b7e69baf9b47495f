import type { Store, Subscriber } from '../contracts/index.ts'
import type { Handler } from '../engine/handler.ts'
import { JustonceError } from '../errors/index.ts'

/** Refuses a transport that cannot do what a handler relies on: detecting it later would be too late. */
export function checkWhatHandlersNeed(handlers: readonly Handler[], store: Store, transport: Subscriber): void {
  const { name, capabilities, positions } = transport
  const { dedup = 'id' } = positions ?? {}
  if (dedup !== 'id' && (store.positions === undefined || store.parts === undefined)) {
    throw new JustonceError('POSITIONS_NEEDED', {
      message: `${name} has dedup: '${dedup}', but ${store.name} cannot do that.`,
    })
  }
  for (const handler of handlers) {
    if (handler.ordered !== undefined && capabilities.order === 'none') {
      throw new JustonceError('ORDER_NOT_KEPT', {
        message: `Handler ${handler.name} is ordered: { by: 'key' }, but ${name} delivers in no particular order.`,
      })
    }
  }
}
