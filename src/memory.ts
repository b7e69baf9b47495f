export {
  MemoryDatabase,
  type MemoryDatabaseOptions,
  type MemoryStore,
  type MemoryStoreOptions,
  type MemoryTx,
  memoryStore,
} from './stores/memory/index.ts'
export {
  type MemoryTransport,
  type MemoryTransportOptions,
  type MessageToSend,
  memoryTransport,
} from './transports/memory/index.ts'
