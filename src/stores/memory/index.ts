export { MemoryDatabase, type MemoryDatabaseOptions } from './memory-database.ts'
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory-store.ts'
export type { MemoryTx } from './memory-tx.ts'
