import type { Queue, Store } from '../../src/contracts/index.ts'
import type { SimTx } from '../simulator/store/sim-tx.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { queueContext } from './queue-context.ts'
import { openSimulated } from './simulated-context.ts'

type QueueStore = Store<SimTx> & { readonly queue: Queue<SimTx> }

// In some worlds of the simulator the database is the queue: there it must be one that the transport can rely on.
bindTransportCases('queue on simulated', {
  async open() {
    const { store, rival, close } = await openSimulated()
    const stores = [store, rival] as QueueStore[]
    let opened = 0
    return queueContext({ openStore: async () => stores[opened++ % 2] as QueueStore, remove: close })
  },
})
