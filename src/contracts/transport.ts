import type { IncomingMessage, OutgoingMessage } from './message.ts'
import type { Place, Positioned, Restore } from './positions.ts'

/** One arrival of a message. It belongs to the connection that brought it and is settled once. */
export interface Delivery {
  readonly message: IncomingMessage
  /** Deliveries of one lane are handled in order (a partition). */
  readonly lane?: string | undefined
  /** How often the broker has delivered it, including this time, if the broker counts. */
  readonly count?: number | undefined
  /**
   * It may have been delivered before, to a process that died with it. If the broker does not say so, the transport
   * must: for messages that were in flight when it was assigned or connected again.
   */
  readonly redelivered?: boolean | undefined
  /**
   * Why it was given up before it came here (a dead-letter queue of the broker): it becomes a dead letter without being run. The reason
   * is `BROKER_GAVE_UP`, or the code of an error of the catalogue.
   */
  readonly givenUp?: string | Error | undefined
  /**
   * Aborted when the connection, or the assignment, that brought it has ended: it can no longer be settled and will be
   * delivered again, so a consumer that has not started it drops it. All deliveries of the same connection or
   * assignment share one signal.
   */
  readonly ended?: AbortSignal | undefined
  /** Set by transports with positions; the source of the message is the source of the partition. */
  readonly place?: Place | undefined
  /**
   * Private to the transport: what it needs to settle the delivery. Nobody else reads it, and it comes back with the
   * delivery.
   */
  readonly receipt?: unknown
}

/** What becomes of a delivery. */
export type Settlement =
  /** It has taken effect, or is kept elsewhere: the broker may forget it. */
  | { readonly kind: 'done' }
  /**
   * Not handled: the broker should redeliver it immediately, to any consumer, without counting it as an attempt if it
   * can do that.
   */
  | { readonly kind: 'release' }

/** What a transport can do. The engine asks for this, never for its name. */
export interface TransportCapabilities {
  /** `lane`: in order within a lane. `key`: in order within a message key. `none`: no promise. */
  readonly order: 'none' | 'lane' | 'key'
  /**
   * With `key`: a released message is redelivered only when everything of its key that was delivered before it is settled,
   * and no delivery limit counts it. Messages that wait behind a slow one can then be given back to make room for others.
   */
  readonly keepsBehind?: boolean | undefined
  /** What a delivery says about earlier deliveries of its message. */
  readonly deliveryCount: 'count' | 'flag' | 'none'
}

/** How many messages a consumer wants to have unsettled at the moment. */
export interface Appetite {
  /**
   * At least one. Less while handlers are slow or messages are large: messages that are here are not available to other
   * consumers.
   */
  now(): number
  /** Calls `wake` when the number has grown. The returned function ends that. */
  onGrown(wake: () => void): () => void
}

/** A problem that a transport handles itself, but that operators should know about. The code is in the catalogue. */
export interface TransportNotice {
  readonly code: string
  readonly message: string
}

/** What a broker says when it is asked, as far as it can tell. */
export interface BrokerState {
  /** How many messages wait there for this subscriber; those that were delivered and are not settled need not be counted. */
  readonly waiting?: number | undefined
  /** What about its setup may lose messages, as it is now. */
  readonly warnings: readonly TransportNotice[]
}

/** What became of a message that was handed to a broker. */
export type PublishResult =
  | { readonly kind: 'sent' }
  /**
   * `isPassing`: not because of the message (a queue is full). Such a message is retried until it is accepted; others
   * become a dead letter after some refusals.
   */
  | { readonly kind: 'refused'; readonly error: Error; readonly isPassing?: boolean | undefined }
  /** It was not sent, because an earlier one with the same key was refused. */
  | { readonly kind: 'held' }

/** For a subscriber that lives in the same database as the store (the database as a queue). */
export interface InsideTransaction {
  /** The store whose transactions these are; used only if it is the app's own store. */
  readonly store: object
  /**
   * Settles inside the batch's transaction, so that there is no gap between the commit and the acknowledgement.
   * You must: reject with `DELIVERY_GONE`, at the latest at the commit, if the broker no longer has one of `effective`. These
   * have had an effect in this transaction, and not all of them are settled with it.
   */
  settle(tx: unknown, deliveries: readonly Delivery[], effective: readonly Delivery[]): Promise<void>
  /** The transaction that settled these deliveries has committed, or the broker no longer has them: forget them. */
  forget(deliveries: readonly Delivery[]): void
}

/** For a publisher that puts messages into a queue of a store. */
export interface QueueInStore {
  /** If this is the app's own store, messages go to the queue in the transaction that publishes them. */
  readonly store: object
  readonly name: string
  /** Called when something was sent to the queue and committed. */
  sent(): void
}

/**
 * What a broker does by itself about a message that is sent again. `producer`: it drops what one producer repeats after a lost
 * answer, but not what another process sends again. `id`: it drops what comes again under the id of the message within this time,
 * whoever sends it. The id is the property or header by which the broker recognises it, and the publisher sets it.
 */
export type PublishDedup = { readonly by: 'producer' } | { readonly by: 'id'; readonly withinMs: number }

/** Sends messages to a broker. */
export interface Publisher {
  /**
   * Names where it sends to. It must be the same in every process and after every restart: messages that wait to be sent
   * are kept under this name, and any process with a publisher of that name sends them.
   */
  readonly destination: string
  /**
   * One result per message, in order; resolves when the broker has accepted or refused them, rejects if that is
   * unknown.
   * You must: keep the order of messages that have the same key. If one is refused, the following ones of its key are
   * `held`: the refused one may be accepted later, and must not be overtaken.
   */
  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]>
  /** If not given, the broker passes on every copy. Consumers of justonce recognise copies in any case. */
  readonly dedup?: PublishDedup | undefined
  readonly queue?: QueueInStore | undefined
  /** As that of a subscriber. A driver that is both has one for both. */
  inspect?(): Promise<BrokerState>
  close(): Promise<void>
}

/** Brings messages from a broker. */
export interface Subscriber {
  readonly name: string
  readonly capabilities: TransportCapabilities
  /** The transport's own limits on what is unsettled and how long it waits: its broker would take back anything beyond them. */
  readonly inFlight?: { readonly messages?: number; readonly bytes?: number; readonly ageMs?: number } | undefined
  /** If not given, it has no positions that a store could keep. */
  readonly positions?: Positioned | undefined
  /**
   * How long after its first delivery the broker may deliver a message again; `undefined` if not known. Called once,
   * when the app has started, and not awaited, because a broker that must be asked may be unavailable.
   * You must: ask the broker again until it answers, and resolve at the latest when you are closed. Without this method
   * nothing is known.
   */
  redeliversForMs?(): Promise<number | undefined>
  /**
   * Asks the broker about its state, for operators. Called every few seconds while the app runs, one call at a time.
   * You must: change nothing at the broker, need no rights or channels beyond those for reading (a refused question must not
   * end the connection that reads), end the question when you are closed, and reject if the broker does not answer. Without this
   * method nothing is known.
   */
  inspect?(): Promise<BrokerState>
  /**
   * Yields deliveries in bulk as they arrive, as many at a time as there are; never waits for more. At most `maxInFlight`
   * are unsettled at any time. Ends when the signal is aborted.
   * You must: reconnect by yourself; keep a delivery ours (extend its visibility) until it is settled or the process dies.
   */
  deliveries(options: {
    readonly signal: AbortSignal
    readonly maxInFlight: number
    /**
     * The total size of bodies, as far as the broker can limit it; one message is always delivered, however large. If not
     * given, there is no limit.
     */
    readonly maxBytes?: number | undefined
    /**
     * For transports that several consumers share: no more than this should be unsettled either. If not given,
     * `maxInFlight` alone is the limit.
     */
    readonly appetite?: Appetite | undefined
    /** Given if positions are kept in the store. */
    readonly restore?: Restore | undefined
    /**
     * You must: call it each time that you connect, when the broker was reached and delivers what there is from now on;
     * immediately if nothing must be reached. It never throws.
     */
    readonly connected?: (() => void) | undefined
    /** Called with what operators should know about the broker while reading goes on. It never throws. */
    readonly notice?: ((notice: TransportNotice) => void) | undefined
  }): AsyncIterable<readonly Delivery[]>
  /**
   * Settles deliveries in bulk. A delivery of an earlier connection is silently skipped: the broker will deliver it
   * again. Rejects if the broker could not be notified; the engine treats that as "will be delivered again".
   */
  settle(deliveries: readonly Delivery[], settlement: Settlement): Promise<void>
  readonly inside?: InsideTransaction | undefined
  /**
   * Asked before a message that was given up is tried again, for example in a redrive: why it must still not be run here. It never
   * throws. Without this method it is run.
   */
  stillGivenUp?(message: IncomingMessage): Error | undefined
  close(): Promise<void>
}

/** Most drivers are both. */
export interface Transport extends Subscriber, Publisher {}
