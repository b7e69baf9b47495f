export { type QueueTransport, type QueueTransportOptions, queueTransport } from './queue-transport.ts'
