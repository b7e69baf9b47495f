import { systemClock } from '../../clock/index.ts'
import type { OutgoingMessage, Publisher } from '../../contracts/index.ts'
import { checkFunction, checkOptions, JustonceError, quiet } from '../../errors/index.ts'
import { inspectTopics } from './inspect-topics.ts'
import { bootstrapList, checkClientSettings, isTopic, type KafkaClientSettings } from './kafka-options.ts'
import { Publisher as Sending } from './publishing.ts'

/** What `kafkaPublisher()` takes. */
export interface KafkaPublisherOptions extends KafkaClientSettings {
  /** Where messages go: a topic, or a function that returns the topic of a message. The record gets the message's key. */
  readonly topic: string | ((message: OutgoingMessage) => string)
}

/**
 * Publishes to topics of a Kafka cluster, for apps that read from elsewhere or not at all.
 *
 * @example
 * const app = justonce({ store, to: kafkaPublisher({ kafka, bootstrapServers: 'localhost:9092', topic: 'notes' }) })
 */
export function kafkaPublisher(options: KafkaPublisherOptions): Publisher {
  checkOptions(options, ['kafka', 'bootstrapServers', 'topic', 'clientOptions', 'clock', 'onError'], 'kafkaPublisher()')
  checkClientSettings(options)
  const { kafka, topic, clientOptions = {}, clock = systemClock } = options
  if (typeof topic === 'string' && !isTopic(topic))
    throw new JustonceError('OPTION_INVALID', {
      message: `topic is ${JSON.stringify(topic)}, but must be the name of a topic.`,
    })
  if (typeof topic !== 'string') checkFunction(topic, 'topic')
  // A function has no name that is the same in every process. Users with two such publishers name them in `to`.
  const destination = typeof topic === 'string' ? `kafka:${topic}` : 'kafka'
  const settings = { kafka, servers: bootstrapList(options), clientOptions, clock, onError: quiet(options.onError) }
  let closing = new AbortController()
  const sending = new Sending({ ...settings, topic, source: `/justonce/${destination}` })
  return {
    destination,
    dedup: { by: 'producer' },
    publish: async (messages) => (messages.length === 0 ? [] : sending.publish(messages)),
    ...(typeof topic === 'string' && {
      inspect: () => inspectTopics({ ...settings, topics: [topic] }, closing.signal),
    }),
    async close() {
      closing.abort()
      closing = new AbortController()
      await sending.close()
    },
  }
}
