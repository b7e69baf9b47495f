import type { Clock, TransportNotice } from '../../contracts/index.ts'
import type { KafkaClientOptions, KafkaModule } from './client-shapes.ts'
import type { ReadingOptions } from './read-record.ts'
import type { SeenTopics } from './seen-topics.ts'
import type { ServerTurn } from './server-turn.ts'

/** How long brokers may take to answer when we leave. */
export const farewellMs = 3_000

export interface ClientSettings {
  readonly kafka: KafkaModule
  readonly servers: readonly string[]
  readonly clientOptions: Readonly<Record<string, unknown>>
  readonly clock: Clock
  onError(error: unknown): void
}

/** The options of a transport with their defaults filled in. */
export interface KafkaSettings extends ClientSettings {
  readonly topics: readonly string[]
  readonly group: string
  readonly lanes: 'partition' | 'key'
  readonly reading: ReadingOptions
  readonly from: 'earliest' | 'latest'
  readonly seen: SeenTopics
  readonly publishTo: string
  readonly turn: ServerTurn
  readonly handOverMs: number
  readonly sessionTimeoutMs: number
  readonly maxBytesPerPartition: number
  /** Reports something that the reader should know. */
  notice(notice: TransportNotice & Error): void
}

/** The name of the cluster in messages. */
export function whereOf({ servers }: Pick<KafkaSettings, 'servers'>): string {
  return servers.join(',')
}

/** Retrying is our job: the client must neither hide a failure nor join the group on its own. */
export function clientOptions(settings: ClientSettings, more: object): KafkaClientOptions {
  const options = {
    clientId: 'justonce',
    ...settings.clientOptions,
    bootstrapBrokers: [...settings.servers],
    retries: 0,
    ...more,
  }
  return options as unknown as KafkaClientOptions
}
