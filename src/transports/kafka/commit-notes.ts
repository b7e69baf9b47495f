import type { KafkaConsumer, KafkaModule } from './client-shapes.ts'

/** What the client calls to send a request: the connection, what is in it, and at the end who gets the answer. */
type Api = ((...args: unknown[]) => unknown) & { readonly version?: number }
type GetApi = (this: KafkaConsumer, name: string, callback: (error: unknown, api: Api) => void) => void

interface CommittedPartition {
  readonly partitionIndex: number
  readonly metadata?: string | null
  committedMetadata?: string | null
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
 * With each position of a group the broker keeps a note. The client neither writes nor shows it, so it is put into the requests
 * and taken from the answers here.
 */
export class CommitNotes {
  readonly #notes = new Map<string, string>()
  readonly #found = new Map<string, string>()

  /** Whoever needs notes has checked that the client has this. */
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

  /** Goes with every position of the partition from now on. */
  set(topic: string, partition: number, note: string): void {
    this.#notes.set(nameOf(topic, partition), note)
  }

  /** The one that was beside the position of the partition when it was last asked for. */
  found(topic: string, partition: number): string | undefined {
    return this.#found.get(nameOf(topic, partition))
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
      for (const { partitionIndex, metadata } of partitions)
        this.#found.set(nameOf(name, partitionIndex), metadata ?? '')
  }
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}
