import { inTime, systemClock } from '../../clock/index.ts'
import type { Delivery, Transport, TransportCapabilities } from '../../contracts/index.ts'
import { quiet } from '../../errors/index.ts'
import { inspectTopics } from './inspect-topics.ts'
import { bootstrapList, checkKafkaOptions, type KafkaTransportOptions } from './kafka-options.ts'
import { Publisher } from './publishing.ts'
import { SeenTopics } from './seen-topics.ts'
import { ServerTurn } from './server-turn.ts'
import { Session } from './session.ts'
import { farewellMs, type KafkaSettings } from './settings.ts'
import { knownRetentionMs } from './topic-retention.ts'

/**
 * Reads topics of a Kafka cluster as a member of a consumer group. Positions are committed after messages are settled, never
 * before.
 *
 * @example
 * import * as kafka from '@platformatic/kafka'
 * const transport = kafkaTransport({ kafka, bootstrapServers: 'localhost:9092', topics: ['notes'], group: 'tagger' })
 */
export function kafkaTransport(options: KafkaTransportOptions): Transport {
  checkKafkaOptions(options)
  const settings = settingsFrom(options)
  const publisher = new Publisher({ ...settings, topic: settings.publishTo, source: `/justonce/${settings.group}` })
  const sessions = new Set<Session>()
  let closing = new AbortController()
  let asking: Promise<number | undefined> | undefined

  const capabilities: TransportCapabilities = {
    order: settings.lanes === 'key' ? 'key' : 'lane',
    keepsBehind: settings.lanes === 'key',
    deliveryCount: 'none',
  }
  const reread = async (deliveries: readonly Delivery[]): Promise<void> => {
    for (const session of sessions) session.reread(deliveries)
  }
  const end = async (session: Session, ending: Promise<void>): Promise<void> => {
    await ending.catch(settings.onError)
    sessions.delete(session)
  }

  return {
    name: `kafka:${settings.topics.join(',')}`,
    destination: `kafka:${settings.publishTo}`,
    dedup: { by: 'producer' },
    capabilities,
    positions: settings.lanes === 'key' ? undefined : { group: settings.group, dedup: options.dedup ?? 'id', reread },
    redeliversForMs() {
      asking ??= knownRetentionMs(settings, closing.signal)
      return asking
    },
    inspect() {
      const topics = [...new Set([...settings.topics, settings.publishTo])]
      return inspectTopics({ ...settings, topics, reading: settings }, closing.signal)
    },
    async *deliveries({ signal: wanted, maxInFlight, maxBytes, restore, connected, notice }) {
      const signal = AbortSignal.any([wanted, closing.signal])
      if (signal.aborted) return
      const report: KafkaSettings['notice'] = (each) => {
        notice?.(each)
        settings.onError(each)
      }
      const session = new Session({ ...settings, notice: report }, { maxInFlight, maxBytes, restore, connected })
      sessions.add(session)
      try {
        yield* session.read(signal)
      } catch (error) {
        await end(session, session.close())
        throw error
      } finally {
        // Also if the reader simply stops reading.
        if (sessions.has(session)) void end(session, session.retire())
      }
    },
    async settle(deliveries, settlement) {
      await Promise.all([...sessions].map((session) => session.settle(deliveries, settlement)))
    },
    publish: async (messages) => (messages.length === 0 ? [] : publisher.publish(messages)),
    async close() {
      closing.abort()
      closing = new AbortController()
      await Promise.all([...sessions].map((session) => end(session, session.close())))
      await publisher.close()
      if (asking !== undefined) await inTime(asking, { clock: settings.clock, withinMs: farewellMs })
      asking = undefined
    },
  }
}

function settingsFrom(options: KafkaTransportOptions): KafkaSettings {
  const { kafka, topics, group } = options
  const onError = quiet(options.onError)
  return {
    kafka,
    servers: bootstrapList(options),
    topics,
    group,
    lanes: options.lanes ?? 'partition',
    reading: { id: options.id, type: options.type, isKnownByPosition: options.dedup === 'position' },
    from: options.from ?? 'earliest',
    seen: new SeenTopics(),
    turn: new ServerTurn(),
    publishTo: options.publishTo ?? (topics[0] as string),
    handOverMs: options.handOverMs ?? 10_000,
    sessionTimeoutMs: options.sessionTimeoutMs ?? 45_000,
    maxBytesPerPartition: options.maxBytesPerPartition ?? 1_048_576,
    clientOptions: options.clientOptions ?? {},
    clock: options.clock ?? systemClock,
    onError,
    notice: onError,
  }
}
