import type { Transport } from '../src/contracts/index.ts'
import type { Bank } from './bank.ts'
import { openQueueBroker } from './broker-queue.ts'

/** What is between the producer and the workers of a side: small enough to be handed to its worker processes. */
export type BrokerPlace =
  | { readonly kind: 'queue' }
  | { readonly kind: 'rabbitmq'; readonly url: string; readonly queue: string }
  | { readonly kind: 'kafka'; readonly address: string; readonly topic: string }

export interface Broker {
  readonly transport: Transport
  /** Makes what the messages go through; called once for a side, before anything else. */
  create(): Promise<void>
  /**
   * How many messages are not settled. A broker that does not tell how many it has handed out is given how many the
   * workers hold.
   */
  countUnsettled(heldByWorkers: number): Promise<number>
  close(): Promise<void>
}

export async function openBroker(place: BrokerPlace, bank: Bank): Promise<Broker> {
  if (place.kind === 'queue') return openQueueBroker(bank)
  // Loaded only here: a demo without a broker does not need its client.
  if (place.kind === 'rabbitmq') return await (await import('./broker-rabbitmq.ts')).openRabbitmqBroker(place)
  return (await import('./broker-kafka.ts')).openKafkaBroker(place)
}
