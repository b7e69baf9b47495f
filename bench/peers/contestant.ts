import type { IncomingMessage, Transport } from '../../src/contracts/index.ts'

/** Where a run takes place: a database of its own with the tables of the transfers, and an empty Redis. */
export interface Ground {
  readonly postgresUrl: string
  readonly redisUrl: string
  /** So many messages are handled at once, and so many connections may do it. */
  readonly concurrency: number
}

/** How long a library that locks what a worker has taken waits for one that died, where that can be set. */
export const lockSeconds = 5

export interface Worker {
  stop(): Promise<void>
}

/** The sending side of a library that owns its queue. */
export interface Producer {
  send(messages: readonly IncomingMessage[]): Promise<void>
  /** Messages that the library still intends to handle. */
  left(): Promise<number>
  /** Messages that the library keeps as failed and will not handle unless somebody asks for it. */
  givenUp(): Promise<number>
  /** What the documentation asks an operator to do after a worker has died. */
  afterKill?(): Promise<void>
  close(): Promise<void>
}

interface Described {
  readonly name: string
  /** The package whose version counts, if it is one of the others'. */
  readonly package?: string
  /** What was chosen where the documentation leaves a choice. */
  readonly setting: string
  /** Creates what the workers expect to find. */
  install(ground: Ground): Promise<void>
}

/** Is called by a consumer of messages: what delivers them is the same for all of these. */
export interface ConsumerContestant extends Described {
  readonly kind: 'consumer'
  work(ground: Ground, transport: Transport): Promise<Worker>
}

/** Owns its queue: sending is part of what it does. */
export interface QueueContestant extends Described {
  readonly kind: 'queue'
  /** `index` tells the worker processes of one run apart. */
  work(ground: Ground, index: number): Promise<Worker>
  produce(ground: Ground): Promise<Producer>
}

export type Contestant = ConsumerContestant | QueueContestant
