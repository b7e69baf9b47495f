import { setTimeout as pause } from 'node:timers/promises'
import * as kafka from '@platformatic/kafka'
import { kafkaTransport } from '../src/transports/kafka/index.ts'
import type { Broker, BrokerPlace } from './broker.ts'

const partitions = Array.from({ length: 6 }, (_, partition) => partition)

/** After so long without a sign of life the partitions of a worker go to others. */
const sessionTimeoutMs = 1_500

export function openKafkaBroker({ address, topic }: Extract<BrokerPlace, { kind: 'kafka' }>): Broker {
  const group = `credit-${topic}`
  const transport = kafkaTransport({ kafka, bootstrapServers: address, topics: [topic], group, sessionTimeoutMs })
  // Never joins: it only asks how far the group has come.
  const onlooker = new kafka.Consumer({ clientId: 'justonce-demo', groupId: group, bootstrapBrokers: [address] })
  return {
    transport,
    create: () => createTopic(address, topic),
    async countUnsettled() {
      const committed = await onlooker.listCommittedOffsets({ topics: [{ topic, partitions }] })
      const ends = await onlooker.listOffsets({ topics: [topic], timestamp: kafka.ListOffsetTimestamps.LATEST })
      return sum(ends.get(topic)) - sum(committed.get(topic))
    },
    async close() {
      await Promise.all([onlooker.close(true), transport.close()])
    },
  }
}

async function createTopic(address: string, topic: string): Promise<void> {
  const admin = new kafka.Admin({ clientId: 'justonce-demo', bootstrapBrokers: [address] })
  try {
    await admin.createTopics({ topics: [topic], partitions: partitions.length, replicas: 1 })
    // The controller has it; the broker hears of it a little later.
    for (const until = performance.now() + 10_000; ; await pause(50)) {
      const metadata = await admin.metadata({ topics: [topic], forceUpdate: true }).catch((error: unknown) => {
        if (performance.now() > until) throw error
      })
      if (metadata !== undefined) return
    }
  } finally {
    await admin.close()
  }
}

/** Where nothing was committed yet stands -1. */
function sum(offsets: readonly bigint[] = []): number {
  return offsets.reduce((total, offset) => total + Math.max(0, Number(offset)), 0)
}
