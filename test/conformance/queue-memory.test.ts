import { MemoryDatabase, memoryStore } from '../../src/memory.ts'
import type { TransportCaseContext } from '../../src/testing/index.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { queueContext } from './queue-context.ts'

async function open(): Promise<TransportCaseContext> {
  const database = new MemoryDatabase()
  return queueContext({ openStore: async () => memoryStore({ database }), remove: async () => {} })
}

bindTransportCases('queue on memory', { open })
