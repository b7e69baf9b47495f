import type { IncomingMessage, OutgoingMessage } from './message.ts'
import type { Place, Positioned, Restore } from './positions.ts'

/** One arrival of a message. It belongs to the connection that brought it and is settled once. */
export interface Delivery {
  readonly message: IncomingMessage
  /** Deliveries of one lane are handled in order (a partition). */
  readonly lane?: string | undefined
  /** How often the broker has delivered it, this time included, where it counts. */
  readonly count?: number | undefined
  /**
   * It may have been delivered before, to a process that died with it. Where the broker does not say so, the transport
   * does: of what lay in flight when it was assigned or connected again.
   */
  readonly redelivered?: boolean | undefined
  /** Why the broker has given it up (a dead-letter queue of its own): it becomes a dead letter without being run. */
  readonly givenUp?: string | undefined
  /**
   * Aborted when the connection, or the assignment, that brought it has ended: it can no longer be settled and will be
   * delivered again, so whoever has not begun it lets it go. One signal for all that came through the same one.
   */
  readonly ended?: AbortSignal | undefined
  /** Given by transports with positions; the source of the message is the source of the partition. */
  readonly place?: Place | undefined
  /** The transport's own: what it needs to settle it. Nobody else looks into it, and it comes back with the delivery. */
  readonly receipt?: unknown
}

export type Settlement =
  /** It has taken effect, or is kept elsewhere: the broker may forget it. */
  | { readonly kind: 'done' }
  /** Not handled; give it to anyone, at once, without counting it as an attempt where the broker can do that. */
  | { readonly kind: 'release' }

export interface TransportCapabilities {
  /** `lane`: in order within a lane. `key`: in order within a message key. `none`: no promise. */
  readonly order: 'none' | 'lane' | 'key'
  /**
   * With `key`: what is released comes again only when all of its key that was delivered before it is settled, and no limit
   * counts it. Then what waits behind a slow message can be given back to make room for others.
   */
  readonly keepsBehind?: boolean | undefined
  /** What a delivery tells about earlier deliveries of its message. */
  readonly deliveryCount: 'count' | 'flag' | 'none'
}

/** How much a consumer wants to have unsettled, from moment to moment. */
export interface Appetite {
  /** At least one. Less while handlers are slow or messages large: what is here is not with other consumers. */
  now(): number
  /** Calls it when there is more than before. The result ends that. */
  onGrown(wake: () => void): () => void
}

/** What a transport deals with by itself, but somebody should know. The code is in the catalogue. */
export interface TransportNotice {
  readonly code: string
  readonly message: string
}

export type PublishResult =
  | { readonly kind: 'sent' }
  /**
   * `isPassing`: not because of the message (a queue is full). It is tried until it is taken; others become a dead letter
   * after some refusals.
   */
  | { readonly kind: 'refused'; readonly error: Error; readonly isPassing?: boolean | undefined }
  /** It was not sent, because one before it that has the same key was refused. */
  | { readonly kind: 'held' }

/** For a subscriber that lives in the same database as the store (the database as a queue). */
export interface InsideTransaction {
  /** The store whose transactions these are; used only when it is the very store of the app. */
  readonly store: object
  /** Inside the batch's transaction, so that there is no moment between the commit and the acknowledgement. */
  settle(tx: unknown, deliveries: readonly Delivery[]): Promise<void>
  /** The transaction has committed: forget these deliveries. */
  committed(deliveries: readonly Delivery[]): void
}

/** For a publisher that puts messages into a queue of a store. */
export interface QueueInStore {
  /** Where this is the very store of the app, messages go to the queue in the transaction that publishes them. */
  readonly store: object
  readonly name: string
  /** Something was sent to it and committed. */
  sent(): void
}

/** Sends messages to a broker. */
export interface Publisher {
  /**
   * Says where it sends to, the same in every process and after every restart: messages that wait to be sent are kept under
   * it, and whoever has a publisher of that name sends them.
   */
  readonly destination: string
  /**
   * One result each, in order; resolves when the broker has taken or refused them, rejects when that is unknown.
   * You must: keep the order of messages that have the same key. When one is refused, those of its key that follow are
   * `held`: the refused one may be taken later, and must not be overtaken.
   */
  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]>
  readonly queue?: QueueInStore | undefined
  close(): Promise<void>
}

/** Brings messages from a broker. */
export interface Subscriber {
  readonly name: string
  readonly capabilities: TransportCapabilities
  /** More than this it does not want to be unsettled, or to wait for longer: what its broker would take back. */
  readonly inFlight?: { readonly messages?: number; readonly bytes?: number; readonly ageMs?: number } | undefined
  /** Not given: it has no positions that a store could keep. */
  readonly positions?: Positioned | undefined
  /**
   * How long after its first delivery the broker may deliver a message again; undefined: not known. Asked once, when the
   * app has started, and not waited for, because a broker that has to be asked may be away.
   * You must: ask it again until it answers, and resolve at the latest when you are closed. Without it nothing is known.
   */
  redeliversForMs?(): Promise<number | undefined>
  /**
   * Yields deliveries in bulk, as they arrive, as many at a time as there are; never waits for more. At most
   * `maxInFlight` are unsettled at any time. Ends when the signal is aborted.
   * You must: reconnect by yourself; keep a delivery ours (extend its visibility) until it is settled or the process dies.
   */
  deliveries(options: {
    readonly signal: AbortSignal
    readonly maxInFlight: number
    /**
     * Of bodies, as far as the broker can be told; one message is always delivered, however large. Not given: any number.
     */
    readonly maxBytes?: number | undefined
    /** For transports that others share: no more than this should be unsettled either. Not given: as many as may be. */
    readonly appetite?: Appetite | undefined
    /** Given where positions are kept in the store. */
    readonly restore?: Restore | undefined
    /**
     * You must: call it when the broker was reached and delivers from now on what there is, each time that you connect; at once
     * where nothing has to be reached. It never throws.
     */
    readonly connected?: (() => void) | undefined
    /** Called with what should be known about the broker while reading goes on. It never throws. */
    readonly notice?: ((notice: TransportNotice) => void) | undefined
  }): AsyncIterable<readonly Delivery[]>
  /**
   * Settles them in bulk. A delivery of an earlier connection is silently skipped: the broker will deliver it again.
   * Rejects when the broker could not be told; the engine treats that as "will come again".
   */
  settle(deliveries: readonly Delivery[], settlement: Settlement): Promise<void>
  readonly inside?: InsideTransaction | undefined
  close(): Promise<void>
}

/** Most drivers are both. */
export interface Transport extends Subscriber, Publisher {}
