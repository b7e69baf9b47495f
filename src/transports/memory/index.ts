export { type MemoryTransport, type MemoryTransportOptions, memoryTransport } from './memory-transport.ts'
export type { MessageToSend } from './message-to-send.ts'
