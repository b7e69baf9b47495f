export type {
  AmqpChannel,
  AmqpClient,
  AmqpConfirmChannel,
  AmqpConnection,
  AmqpMessage,
  AmqpPublishOptions,
  AmqpQueueOptions,
} from './client-shapes.ts'
export type { DeclareOptions, PublishTarget, QueueType, RabbitmqTransportOptions, WayToConnect } from './options.ts'
export { type RabbitmqPublisherOptions, rabbitmqPublisher } from './rabbitmq-publisher.ts'
export { rabbitmqTransport } from './rabbitmq-transport.ts'
