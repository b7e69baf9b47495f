import type { KafkaMetadata, TopicPartitions } from './client-shapes.ts'

/** What a member of the group sent when it joined. */
interface Member {
  readonly topics?: readonly string[] | null
}

export interface Share {
  readonly memberId: string
  readonly assignments: Map<string, TopicPartitions>
}

/**
 * Gives each partition to the member with the fewest partitions among those that read its topic. The client's own assigner uses
 * the topics of the leader for everyone: in a deploy that adds a topic, partitions went to processes that do not know it.
 */
export function shareOut(
  _sharer: string,
  members: ReadonlyMap<string, Member>,
  _topics: unknown,
  { topics }: KafkaMetadata,
): Share[] {
  const shares = [...members.keys()].map((memberId) => ({ memberId, assignments: new Map<string, TopicPartitions>() }))
  const sizes = new Map(shares.map((share) => [share, 0]))
  for (const [topic, found] of [...topics].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const readers = shares.filter(({ memberId }) => members.get(memberId)?.topics?.includes(topic))
    for (const partition of found?.partitions.keys() ?? []) {
      const fewest = Math.min(...readers.map((share) => sizes.get(share) as number))
      const share = readers.find((each) => sizes.get(each) === fewest)
      if (share === undefined) break
      sizes.set(share, fewest + 1)
      const given = share.assignments.get(topic) ?? { topic, partitions: [] }
      given.partitions.push(partition)
      share.assignments.set(topic, given)
    }
  }
  return shares
}
