import type { Clock } from '../../contracts/index.ts'
import { checkChoice, checkFunction, checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import type { KafkaModule } from './client-shapes.ts'
import type { FromRecord } from './read-record.ts'

export interface KafkaClientSettings {
  /** The client: `import * as kafka from '@platformatic/kafka'`. */
  readonly kafka: KafkaModule
  /** `host:port` of some brokers of the cluster. */
  readonly bootstrapServers: readonly string[] | string
  /** More options for the client: `tls`, `sasl`, `clientId`, `connectTimeout` … */
  readonly clientOptions?: Readonly<Record<string, unknown>>
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
  /** Receives errors that the driver recovers from: a broker was unreachable and will be asked again. */
  readonly onError?: (error: unknown) => void
}

/** What `kafkaTransport()` takes. */
export interface KafkaTransportOptions extends KafkaClientSettings {
  /** The topics that this group reads. They must exist. */
  readonly topics: readonly string[]
  /** The consumer group. Processes in the same group share the partitions. */
  readonly group: string
  /** How duplicates are recognised. `position` is enough if producers never send a message twice. Default: `id`. */
  readonly dedup?: 'id' | 'position' | 'both'
  /** What is handled in order: a whole partition, or only the messages of a key within it. Default: `partition`. */
  readonly lanes?: 'partition' | 'key'
  /** Where records that are not CloudEvents have their id: the name of a header, or a function. Default: they have none. */
  readonly id?: FromRecord
  /** The same for their type. */
  readonly type?: FromRecord
  /** Where a group without a position begins. Default: `earliest`, so that nothing is missed. */
  readonly from?: 'earliest' | 'latest'
  /** The topic that messages are published to. Default: the first of `topics`. */
  readonly publishTo?: string
  /** How long a rebalance waits for messages in progress before partitions are given up. Default: 10,000. */
  readonly handOverMs?: number
  /** How long the group waits for a process that sends no heartbeats. Default: 45,000. */
  readonly sessionTimeoutMs?: number
  /** The most bytes of a partition that are fetched at a time. Default: 1 MiB. */
  readonly maxBytesPerPartition?: number
}

const known = [
  'kafka',
  'bootstrapServers',
  'topics',
  'group',
  'dedup',
  'lanes',
  'id',
  'type',
  'from',
  'publishTo',
  'handOverMs',
  'sessionTimeoutMs',
  'maxBytesPerPartition',
  'clientOptions',
  'clock',
  'onError',
]

export function checkKafkaOptions(options: KafkaTransportOptions): void {
  checkOptions(options, known, 'kafkaTransport()')
  const { kafka, topics, group, dedup = 'id', lanes = 'partition', from = 'earliest' } = options
  checkFunction(kafka?.Consumer, 'kafka.Consumer')
  checkClientSettings(options)
  if (!Array.isArray(topics) || topics.length === 0 || !topics.every(isTopic))
    throw invalid(`topics is ${JSON.stringify(topics)}, but must be names of topics, at least one.`)
  if (typeof group !== 'string' || !/^\S{1,200}$/.test(group))
    throw invalid(`group is ${JSON.stringify(group)}, but must be 1 to 200 characters without spaces.`)
  checkChoice(dedup, 'dedup', ['id', 'position', 'both'])
  checkChoice(lanes, 'lanes', ['partition', 'key'])
  checkChoice(from, 'from', ['earliest', 'latest'])
  if (dedup !== 'id' && lanes === 'key')
    throw invalid(
      `dedup is '${dedup}' with lanes: 'key', but one position cannot say which keys of a partition are done.`,
    )
  if (dedup !== 'id' && kafka.kGetApi === undefined)
    throw invalid(`dedup is '${dedup}', but this version of the client cannot keep notes beside positions (kGetApi).`)
  if (options.publishTo !== undefined && !isTopic(options.publishTo))
    throw invalid(`publishTo is ${JSON.stringify(options.publishTo)}, but must be the name of a topic.`)
  if (options.handOverMs !== undefined) checkNumber(options.handOverMs, 'handOverMs', 0)
  if (options.sessionTimeoutMs !== undefined) checkNumber(options.sessionTimeoutMs, 'sessionTimeoutMs', 1)
  if (options.maxBytesPerPartition !== undefined) checkNumber(options.maxBytesPerPartition, 'maxBytesPerPartition', 1)
  for (const name of ['id', 'type'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'string') checkFunction(options[name], name)
}

export function checkClientSettings(options: KafkaClientSettings): void {
  checkFunction(options.kafka?.Producer, 'kafka.Producer')
  const servers = bootstrapList(options)
  if (servers.length === 0 || servers.some((each) => typeof each !== 'string' || !/^\S+:\d+$/.test(each)))
    throw invalid(
      `bootstrapServers is ${JSON.stringify(options.bootstrapServers)}, but must be host:port, one or more.`,
    )
  if (options.onError !== undefined) checkFunction(options.onError, 'onError')
}

export function bootstrapList({ bootstrapServers }: Pick<KafkaClientSettings, 'bootstrapServers'>): string[] {
  return typeof bootstrapServers === 'string' ? bootstrapServers.split(',') : [...(bootstrapServers ?? [])]
}

export function isTopic(name: unknown): name is string {
  return typeof name === 'string' && /^(?!\.{1,2}$)[\w.-]{1,249}$/.test(name)
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}
