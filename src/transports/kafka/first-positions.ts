import type { KafkaMetadata, TopicPartitions } from './client-shapes.ts'
import type { Fetcher } from './fetching.ts'
import type { GroupMember } from './group-member.ts'
import type { KafkaSettings } from './settings.ts'

/** How long to wait for the member that decides where the group begins. A member that follows other rules never decides. */
const patienceMs = 30_000
const pollMs = 200

export interface FirstPositionsOptions {
  readonly settings: KafkaSettings
  readonly member: GroupMember
  readonly fetcher: Fetcher
  readonly metadata: KafkaMetadata
  /** The assignment is over, so any result is worthless. */
  isPast(): boolean
}

/**
 * Decides where to begin in partitions for which the group has no position yet. Because the end of a partition moves, it is
 * looked up once, for all partitions of a topic, by the member that has the first of them, and committed before anything is
 * read. So a restart or another member begins at the same place. If the first partition of a topic has a position and another
 * has none, the other was added later and is read from its start. So is a topic that did not exist before.
 */
export async function firstPositions(
  wanted: readonly TopicPartitions[],
  options: FirstPositionsOptions,
): Promise<Map<string, readonly (bigint | undefined)[]>> {
  const { settings, fetcher } = options
  const found = new Map<string, readonly (bigint | undefined)[]>()
  if (wanted.length === 0) return found
  if (settings.from === 'earliest') {
    return fetcher.edges(
      'earliest',
      wanted.map(({ topic }) => topic),
    )
  }
  for (const each of wanted) found.set(each.topic, await beginTogether(each, options))
  return found
}

async function beginTogether(
  { topic, partitions }: TopicPartitions,
  { settings, member, fetcher, metadata, isPast }: FirstPositionsOptions,
): Promise<readonly (bigint | undefined)[]> {
  const { clock } = settings
  const all = Array.from({ length: metadata.topics.get(topic)?.partitions.length ?? 0 }, (_, partition) => partition)
  const committedOf = async () => (await member.committed([{ topic, partitions: all }], metadata)).get(topic) ?? []
  const commit = (offsets: readonly bigint[], which: readonly number[]) =>
    member.commit(
      which.map((partition) => ({ topic, partition, offset: offsets[partition] as bigint, leaderEpoch: -1 })),
    )
  const edge = settings.seen.cameLater(topic) ? 'earliest' : 'latest'
  const begin = (await fetcher.edges(edge, [topic])).get(topic) ?? []
  const until = clock.monotonicMs() + patienceMs
  for (;;) {
    const committed = await committedOf()
    if ((committed[0] ?? -1n) >= 0n) {
      const starts = (await fetcher.edges('earliest', [topic])).get(topic) ?? []
      return all.map((partition) => known(committed[partition]) ?? starts[partition])
    }
    if (isPast()) return []
    if (partitions.includes(0)) {
      await commit(
        begin,
        all.filter((partition) => known(committed[partition]) === undefined && begin[partition] !== undefined),
      )
      return all.map((partition) => known(committed[partition]) ?? begin[partition])
    }
    if (clock.monotonicMs() >= until) {
      await commit(begin, partitions)
      return begin
    }
    await clock.sleep(pollMs)
  }
}

function known(offset: bigint | undefined): bigint | undefined {
  return offset === undefined || offset < 0n ? undefined : offset
}
