export type {
  AmqpChannel,
  AmqpClient,
  AmqpConfirmChannel,
  AmqpConnection,
  AmqpMessage,
  AmqpPublishOptions,
  AmqpQueueOptions,
} from './client-shapes.ts'
export type { DeclareOptions, PublishTarget, QueueType, RabbitmqTransportOptions } from './options.ts'
export { rabbitmqTransport } from './rabbitmq-transport.ts'
