import type { Partition, Position, Restore } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { type Begun, begunIn, noteOf, noteWithoutStore } from './begun.ts'
import type { TopicPartitions } from './client-shapes.ts'
import { noEpoch } from './committed-records.ts'
import type { Fetcher } from './fetching.ts'
import { firstPositions } from './first-positions.ts'
import type { GroupMember } from './group-member.ts'
import { PartitionLedger } from './partition-ledger.ts'
import type { KafkaSettings } from './settings.ts'

export interface BeginningOptions {
  readonly settings: KafkaSettings
  readonly member: GroupMember
  readonly fetcher: Fetcher
  readonly restore: Restore | undefined
  readonly suspects: number
}

export type Assigned = { readonly topic: string; readonly partition: number }

/**
 * Decides where to begin in newly assigned partitions: at the position in the store, or else at the position the group has
 * committed, or else at the start or the end. A position that the store has lost is not treated as one that never existed.
 */
export async function assignedLedgers(
  partitions: readonly Assigned[],
  { settings, member, fetcher, restore, suspects }: BeginningOptions,
  isPast: () => boolean,
): Promise<PartitionLedger[]> {
  const metadata = await fetcher.metadata(true)
  const [committed, stored] = await Promise.all([
    member.committed(byTopic(partitions), metadata),
    restore?.(partitions.map(partitionOf)),
  ])
  const found = partitions.map(({ topic, partition }, index) => {
    const topicId = metadata.topics.get(topic)?.id
    if (stored !== undefined && topicId !== undefined) checkIncarnation(stored[index], topic, topicId, settings)
    const next = stored?.[index]?.next
    const known = committed.get(topic)?.[partition] ?? -1n
    return {
      topic,
      partition,
      topicId,
      stored: next === undefined ? undefined : BigInt(next),
      known: known < 0n ? undefined : known,
      begun: restore === undefined ? undefined : begunIn(member.notes.found(topic, partition), topicId),
    }
  })
  for (const each of found) if (each.stored === undefined) tellReplaced(each, member, settings)
  for (const each of found) if (each.stored === undefined && each.begun !== undefined) tellForgotten(each, settings)
  const unknown = found.filter((each) => (each.stored ?? each.begun ?? each.known) === undefined)
  const first = await firstPositions(byTopic(unknown), { settings, member, fetcher, metadata, isPast })
  const ledgers = found.map(({ topic, partition, topicId, stored, known, begun }) => {
    const position = stored ?? begun?.since ?? known ?? first.get(topic)?.[partition]
    if (topicId === undefined || position === undefined)
      throw new Error(`Nothing is known of ${topic}/${partition} yet.`)
    const epoch = position === known ? member.notes.epochOf(topic, partition) : noEpoch
    return new PartitionLedger({ topic, partition, topicId, position, epoch, stored, suspects })
  })
  if (restore !== undefined) await noteBeginnings(found, ledgers, member)
  else
    for (const { topic, partition, topicId } of ledgers) member.notes.set(topic, partition, noteWithoutStore(topicId))
  return ledgers
}

/** The broker is notified before anything is delivered. If a position is stored but has no note, nobody knows where it began. */
async function noteBeginnings(found: readonly Found[], ledgers: readonly PartitionLedger[], member: GroupMember) {
  const isNew = (index: number): boolean => (found[index]?.stored ?? found[index]?.begun) === undefined
  for (const [index, { topic, partition, topicId, position, storedUpTo }] of ledgers.entries()) {
    const begun = found[index]?.begun ?? { since: storedUpTo === undefined ? position : undefined }
    member.notes.set(topic, partition, noteOf(topicId, begun))
  }
  const offsets = ledgers
    .filter((_, index) => isNew(index))
    .map(({ topic, partition, position, epoch }) => ({ topic, partition, offset: position, leaderEpoch: epoch }))
  if (offsets.length > 0) await member.commit(offsets)
}

interface Found extends Assigned {
  readonly topicId: string | undefined
  readonly stored: bigint | undefined
  /** The position that the group has committed. */
  readonly known: bigint | undefined
  readonly begun: Begun | undefined
}

/** Somebody who still had records of a deleted topic in hand has told the broker how far in that one he was. */
function tellReplaced(
  { topic, partition, topicId }: Found,
  { notes }: GroupMember,
  { notice, seen }: KafkaSettings,
): void {
  const former = notes.topicOf(topic, partition)
  if (former === undefined || topicId === undefined || former === topicId) return
  seen.isNew(topic)
  const message = `The group's position of ${topic}/${partition} is of the topic with the id ${former}, but it is ${topicId}.`
  notice(new JustonceError('TOPIC_REPLACED', { message }))
}

/**
 * The store was restored from a backup, its position was removed, or all records so far were rolled back. In all cases nothing
 * counts as handled.
 */
function tellForgotten({ topic, partition, known, begun }: Found, { notice }: KafkaSettings): void {
  const { since } = begun as Begun
  const message = `The store has no position of ${topic}/${partition}, and the group is at ${known}.`
  if (since === undefined) throw new JustonceError('POSITION_FORGOTTEN', { message, details: { topic } })
  if (known === undefined || since >= known) return
  notice(new JustonceError('POSITION_FORGOTTEN', { message: `${message} It is read again from ${since}.` }))
}

export function partitionOf({ topic, partition }: Assigned): Partition {
  return { source: topic, partition: String(partition) }
}

function checkIncarnation(stored: Position | undefined, topic: string, topicId: string, { seen }: KafkaSettings): void {
  // Brokers before 2.8 have no topic ids, and the client reports the name instead.
  if (topicId === topic) {
    const message = `The broker gives topic ${topic} no id, so it cannot be distinguished from another of the same name.`
    throw new JustonceError('BROKER_SETUP', { message })
  }
  if (stored === undefined || stored.incarnation === topicId) return
  seen.isNew(topic)
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
