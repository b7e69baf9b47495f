export type { KafkaModule } from './client-shapes.ts'
export type { KafkaTransportOptions } from './kafka-options.ts'
export { kafkaTransport } from './kafka-transport.ts'
export { type FromRecord, type PlainRecord, tombstoneHeader } from './read-record.ts'
