import { topicOfNote } from './begun.ts'
import type { KafkaConsumer, KafkaModule } from './client-shapes.ts'
import { noEpoch } from './committed-records.ts'

/** What the client calls to send a request: the connection, the contents, and last the callback for the answer. */
type Api = ((...args: unknown[]) => unknown) & { readonly version?: number }
type GetApi = (this: KafkaConsumer, name: string, callback: (error: unknown, api: Api) => void) => void

interface CommittedPartition {
  readonly partitionIndex: number
  readonly metadata?: string | null
  committedMetadata?: string | null
  readonly committedLeaderEpoch?: number
}

interface NamedTopic {
  readonly name: string
  readonly partitions: readonly CommittedPartition[]
}

interface FetchedOffsets {
  readonly topics?: readonly NamedTopic[]
  readonly groups?: readonly { readonly topics: readonly NamedTopic[] }[]
}

/**
 * The broker keeps a note with each position of a group. The client neither writes nor exposes it, so it is added to the
 * requests and read from the answers here.
 */
export class CommitNotes {
  readonly #notes = new Map<string, string>()
  readonly #found = new Map<string, string>()
  readonly #epochs = new Map<string, number>()

  /** Does nothing if the client lacks `kGetApi`; callers that need notes have checked that before. */
  attach(consumer: KafkaConsumer, { kGetApi }: KafkaModule): void {
    if (kGetApi === undefined) return
    const client = consumer as KafkaConsumer & Record<symbol, GetApi>
    const getApi = client[kGetApi] as GetApi
    client[kGetApi] = (name, callback) =>
      getApi.call(client, name, (error, api) => {
        if (error || (name !== 'OffsetCommit' && name !== 'OffsetFetch')) callback(error, api)
        else callback(error, name === 'OffsetCommit' ? this.#writing(api) : this.#reading(api))
      })
  }

  /** From now on, the note is sent with every position of the partition. */
  set(topic: string, partition: number, note: string): void {
    this.#notes.set(nameOf(topic, partition), note)
  }

  /** The note beside the partition's position when that was last requested. */
  found(topic: string, partition: number): string | undefined {
    return this.#found.get(nameOf(topic, partition))
  }

  /** The epoch beside the partition's position when that was last requested. The client does not expose it either. */
  epochOf(topic: string, partition: number): number {
    return this.#epochs.get(nameOf(topic, partition)) ?? noEpoch
  }

  /** The id of the topic that the position is of, if the note says it. */
  topicOf(topic: string, partition: number): string | undefined {
    return topicOfNote(this.found(topic, partition))
  }

  #writing(api: Api): Api {
    const send = (...args: unknown[]): unknown => {
      const topics = args.at(-2) as readonly NamedTopic[]
      for (const { name, partitions } of topics)
        for (const each of partitions)
          each.committedMetadata = this.#notes.get(nameOf(name, each.partitionIndex)) ?? null
      return api(...args)
    }
    return Object.assign(send, api)
  }

  #reading(api: Api): Api {
    const send = (...args: unknown[]): unknown => {
      const answer = args.at(-1) as (error: unknown, response: FetchedOffsets) => void
      return api(...args.slice(0, -1), (error: unknown, response: FetchedOffsets) => {
        if (!error) this.#see(response)
        answer(error, response)
      })
    }
    return Object.assign(send, api)
  }

  #see({ topics = [], groups = [] }: FetchedOffsets): void {
    for (const { name, partitions } of [...topics, ...groups.flatMap((group) => group.topics)])
      for (const { partitionIndex, metadata, committedLeaderEpoch = noEpoch } of partitions) {
        this.#found.set(nameOf(name, partitionIndex), metadata ?? '')
        this.#epochs.set(nameOf(name, partitionIndex), committedLeaderEpoch)
      }
  }
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}
