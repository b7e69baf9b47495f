import { MemoryDatabase, type MemoryTx, memoryStore } from '../../src/stores/memory/index.ts'
import { systemTimers } from '../../src/stores/shared/system-timers.ts'
import type { StoreCaseContext } from '../../src/testing/index.ts'
import { bindStoreCases } from './bind-store-cases.ts'

async function open(): Promise<StoreCaseContext<MemoryTx>> {
  // Of its own, as a database has it: not that of the process, which cases set wrong.
  let aheadMs = 0
  const clock = { ...systemTimers, now: () => new Date(performance.timeOrigin + performance.now() + aheadMs) }
  const database = new MemoryDatabase({ busyTimeoutMs: 5_000, clock })
  const store = memoryStore({ database })
  const rival = memoryStore({ database })
  const write = async (tx: MemoryTx, name: string) => tx.set(name, (tx.get<number>(name) ?? 0) + 1)
  return {
    store,
    rival,
    effects: {
      write,
      count: async (name) => (database.committedValue(name) as number | undefined) ?? 0,
      writeBadly: async (tx) => tx.set('bad', () => 'a function cannot be copied'),
      prepareWrite({ get, set }) {
        return async (name) => set(name, (get<number>(name) ?? 0) + 1)
      },
      transaction: (work) => store.transaction(work),
    },
    async moveClock(ms) {
      aheadMs += ms
    },
    async close() {
      await store.close()
      await rival.close()
    },
  }
}

bindStoreCases('memory', { open })
