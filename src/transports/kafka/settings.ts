import type { Clock, TransportNotice } from '../../contracts/index.ts'
import type { KafkaClientOptions, KafkaModule } from './client-shapes.ts'
import type { ReadingOptions } from './read-record.ts'

/** What every connection needs. */
export interface ClientSettings {
  readonly kafka: KafkaModule
  readonly servers: readonly string[]
  readonly client: Readonly<Record<string, unknown>>
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
  /** Topics that were not there when we looked: whatever is in them has come since the group began. */
  readonly cameLater: Set<string>
  readonly publishTo: string
  readonly handOverMs: number
  readonly sessionTimeoutMs: number
  readonly maxBytesPerPartition: number
  /** What whoever reads should know. */
  notice(notice: TransportNotice & Error): void
}

/** How the settings name the cluster in messages. */
export function whereOf({ servers }: Pick<KafkaSettings, 'servers'>): string {
  return servers.join(',')
}

/** Trying again is our business: the client must neither hide a failure nor join the group behind our back. */
export function clientOptions(settings: ClientSettings, more: object): KafkaClientOptions {
  const options = {
    clientId: 'justonce',
    ...settings.client,
    bootstrapBrokers: [...settings.servers],
    retries: 0,
    ...more,
  }
  return options as unknown as KafkaClientOptions
}
