import type { Queue, Store, Transport } from '../../src/contracts/index.ts'
import { fakeClock, type TransportCaseContext } from '../../src/testing/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'

export interface QueueDatabase<Tx> {
  /** A store of its own on the same database: another process, as far as the database can tell. */
  openStore(): Promise<Store<Tx> & { readonly queue: Queue<Tx> }>
  /** Closes what does not belong to a store and removes the data. */
  remove(): Promise<void>
}

let queues = 0

/** The conformance context of `queueTransport` on any store; each has a queue of its own, so that they can share a database. */
export function queueContext<Tx>({ openStore, remove }: QueueDatabase<Tx>): TransportCaseContext {
  const queue = `notes-${++queues}`
  const opened: { readonly transport: Transport; readonly store: Store<Tx> }[] = []

  const open = async (options: { readonly dying: boolean }): Promise<Transport> => {
    const store = await openStore()
    // On a clock that stands still nothing is ever renewed: to the database that is a process which was killed.
    const mortality = options.dying ? { clock: fakeClock(), visibilityMs: 250 } : {}
    const transport = queueTransport({ store, queue, ...mortality })
    opened.push({ transport, store })
    return transport
  }

  return {
    limitsBytes: true,
    connect: () => open({ dying: false }),
    connectMortal: async () => ({ transport: await open({ dying: true }), die: async () => {} }),
    async close() {
      for (const { transport } of opened) await transport.close()
      for (const { store } of opened) await store.close()
      await remove()
    },
  }
}
