import type { Position, Transport } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { TopicPartitions } from './client-shapes.ts'
import type { Fetcher } from './fetching.ts'
import { firstPositions } from './first-positions.ts'
import type { GroupMember } from './group-member.ts'
import { PartitionLedger } from './partition-ledger.ts'
import type { KafkaSettings } from './settings.ts'

export interface BeginningOptions {
  readonly settings: KafkaSettings
  readonly member: GroupMember
  readonly fetcher: Fetcher
  readonly restore: Parameters<Transport['deliveries']>[0]['restore']
  readonly suspects: number
}

export type Assigned = { readonly topic: string; readonly partition: number }

/**
 * Where to begin in partitions that were just assigned: at the position in the store, or else at what the group has
 * committed, or else at one of the ends.
 */
export async function assignedLedgers(
  partitions: readonly Assigned[],
  { settings, member, fetcher, restore, suspects }: BeginningOptions,
  isPast: () => boolean,
): Promise<PartitionLedger[]> {
  const metadata = await fetcher.metadata(true)
  const [committed, stored] = await Promise.all([
    member.committed(byTopic(partitions)),
    restore?.(partitions.map(({ topic, partition }) => ({ source: topic, partition: String(partition) }))),
  ])
  for (const [index, position] of stored?.entries() ?? []) {
    const { topic } = partitions[index] as Assigned
    const topicId = metadata.topics.get(topic)?.id
    if (topicId !== undefined) checkIncarnation(position, topic, topicId, settings)
  }
  const knownOf = ({ topic, partition }: Assigned): bigint | undefined => {
    const known = committed.get(topic)?.[partition] ?? -1n
    return known < 0n ? undefined : known
  }
  const unknown = partitions.filter((each, index) => stored?.[index] === undefined && knownOf(each) === undefined)
  const first = await firstPositions(byTopic(unknown), { settings, member, fetcher, metadata, isPast })
  return partitions.map((each, index) => {
    const { topic, partition } = each
    const topicId = metadata.topics.get(topic)?.id
    const next = stored?.[index]?.next
    const from = next === undefined ? undefined : BigInt(next)
    const position = from ?? knownOf(each) ?? first.get(topic)?.[partition]
    if (topicId === undefined || position === undefined)
      throw new Error(`Nothing is known of ${topic}/${partition} yet.`)
    return new PartitionLedger({ topic, partition, topicId, position, stored: from, suspects })
  })
}

function checkIncarnation(
  stored: Position | undefined,
  topic: string,
  topicId: string,
  { cameLater }: KafkaSettings,
): void {
  // Brokers before 2.8 have no ids, and the client gives the name instead.
  if (topicId === topic) {
    const message = `The broker gives topic ${topic} no id, so it cannot be told from another of the same name.`
    throw new JustonceError('BROKER_SETUP', { message })
  }
  if (stored === undefined || stored.incarnation === topicId) return
  cameLater.add(topic)
  const message = `The stored position of topic ${topic} is of the topic with the id ${stored.incarnation}, but it is ${topicId}.`
  throw new JustonceError('SOURCE_REPLACED', {
    message,
    details: { topic, stored: stored.incarnation, found: topicId },
  })
}

function byTopic(partitions: readonly Assigned[]): TopicPartitions[] {
  const topics = new Map<string, number[]>()
  for (const { topic, partition } of partitions) topics.set(topic, [...(topics.get(topic) ?? []), partition])
  return [...topics].map(([topic, list]) => ({ topic, partitions: list }))
}
