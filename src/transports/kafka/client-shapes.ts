/**
 * The parts of `@platformatic/kafka` that we use, by shape. Users pass in their own copy as
 * `kafka: await import('@platformatic/kafka')`, so any version that still has these members fits.
 */
export interface KafkaModule {
  readonly Consumer: new (options: KafkaClientOptions) => KafkaConsumer
  readonly Producer: new (options: KafkaClientOptions) => KafkaProducer
  /** Names the client method that looks up a protocol request. Without it, positions cannot be kept in a store. */
  readonly kGetApi?: symbol | undefined
  /** Names the client method that chooses a server. Without it, the first server is always asked first, even if it has frozen. */
  readonly kGetBootstrapConnection?: symbol | undefined
  /** Used to read the settings of the topics. Without it, their retention, durability and lag are unknown. */
  readonly Admin?: (new (options: KafkaClientOptions) => KafkaAdmin) | undefined
  /** Maps keys to partitions as the Java client does. The client's own default differs for half of the keys. */
  readonly compatibilityPartitioner?: ((message: never, key: Buffer | undefined) => number) | undefined
}

/** Whatever the client accepts. The type demands nothing, so that every version of its options fits. */
export type KafkaClientOptions = never

export interface KafkaConsumer {
  readonly generationId: number
  readonly memberId: string | null
  readonly topics: { trackAll(...topics: string[]): unknown; untrackAll(...topics: string[]): unknown }
  on(event: string, listener: (payload: never) => void): unknown
  metadata(options: { topics: string[]; forceUpdate?: boolean }): Promise<KafkaMetadata>
  joinGroup(options?: object): Promise<unknown>
  fetch(options: FetchOptions): Promise<FetchResponse>
  commit(options: { offsets: KafkaOffset[] }): Promise<unknown>
  listOffsets(options: { topics: string[]; timestamp: bigint }): Promise<Map<string, bigint[]>>
  listCommittedOffsets(options: { topics: TopicPartitions[] }): Promise<Map<string, bigint[]>>
  close(force?: boolean): Promise<void>
}

export interface KafkaProducer {
  send(options: { messages: KafkaRecordToSend[] }): Promise<unknown>
  close(force?: boolean): Promise<void>
}

export interface KafkaAdmin {
  describeConfigs(options: {
    resources: { resourceType: 2; resourceName: string; configurationKeys: string[] }[]
  }): Promise<{ resourceName: string; configs: { name: string; value?: string | null }[] }[]>
  metadata?(options: { topics: string[]; forceUpdate?: boolean }): Promise<{
    readonly topics: ReadonlyMap<
      string,
      { readonly partitions: readonly { readonly replicas: readonly number[] }[] } | undefined
    >
  }>
  listOffsets?(options: {
    topics: { name: string; partitions: { partitionIndex: number; timestamp: bigint }[] }[]
  }): Promise<{ name: string; partitions: { partitionIndex: number; offset: bigint }[] }[]>
  listConsumerGroupOffsets?(options: {
    groups: string[]
  }): Promise<{ topics: { name: string; partitions: { partitionIndex: number; committedOffset: bigint }[] }[] }[]>
  close(): Promise<unknown>
}

export interface TopicPartitions {
  topic: string
  partitions: number[]
}

export interface KafkaOffset {
  topic: string
  partition: number
  offset: bigint
  leaderEpoch: number
}

export interface KafkaMetadata {
  readonly topics: ReadonlyMap<
    string,
    { readonly id: string; readonly partitions: readonly { readonly leader: number }[] } | undefined
  >
}

export interface FetchOptions {
  node: number
  topics: {
    topicId: string
    partitions: {
      partition: number
      currentLeaderEpoch: number
      fetchOffset: bigint
      lastFetchedEpoch: number
      partitionMaxBytes: number
    }[]
  }[]
  maxWaitTime: number
  minBytes: number
  maxBytes: number
  isolationLevel: 1
}

export interface FetchResponse {
  readonly responses: readonly { readonly topicId: string; readonly partitions: readonly FetchedPartition[] }[]
}

/** Part of the error when a commit is refused. */
export interface CommitResponse {
  readonly topics?: readonly {
    readonly name: string
    readonly partitions: readonly { readonly partitionIndex: number; readonly errorCode: number }[]
  }[]
}

/** The offset is -1 if nothing is lacking. */
export interface LogCut {
  readonly epoch: number
  readonly endOffset: bigint
}

export interface FetchedPartition {
  readonly partitionIndex: number
  readonly errorCode: number
  /** Set if the log lacks something that was read: the last of the epochs read that it has, and where that ends in it. */
  readonly divergingEpoch?: LogCut | undefined
  /** The replica to ask instead of the leader; -1 if there is none, and absent from old brokers. */
  readonly preferredReadReplica?: number
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[] | null
  readonly records?: readonly RecordsBatch[] | null
}

export interface RecordsBatch {
  readonly firstOffset: bigint
  readonly lastOffsetDelta: number
  readonly partitionLeaderEpoch: number
  readonly attributes: number
  readonly firstTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly producerId: bigint
  readonly records: readonly KafkaRecord[]
}

export interface KafkaRecord {
  readonly timestampDelta: bigint
  readonly offsetDelta: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[]
}

export interface KafkaRecordToSend {
  topic: string
  key?: Buffer
  value: Buffer
  headers: Map<Buffer, Buffer>
}
