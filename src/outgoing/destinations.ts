import type { Clock, OutgoingMessage, Publisher, PublishResult, Queue, Store } from '../contracts/index.ts'
import { outgoingQueue } from '../encoding/outgoing-queue.ts'
import { toQueue } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { queueChannel } from '../queues/queue-channel.ts'
import { type Routes, RouteTable } from './routes.ts'

export interface Destination {
  readonly name: string
  readonly publisher: Publisher
  /** The queue of the store where its messages wait; the destination itself if that is a queue of the same store. */
  readonly queue: string
  readonly isInStore: boolean
}

export interface DestinationsOptions {
  readonly store: Store
  readonly publishers: Readonly<Record<string, Publisher>>
  /** If not given, everything goes to the only publisher. */
  readonly routes?: Routes | undefined
  readonly clock: Clock
  /** Throws if a message of this type would come back to an app that cannot handle it. */
  checkReturn(type: string, destination: Destination): void
}

/** The destinations of this app, and which type goes where. */
export class Destinations {
  readonly all: readonly Destination[]
  readonly #options: DestinationsOptions
  readonly #routes: RouteTable<string>
  readonly #relays = new Map<string, () => void>()

  constructor(options: DestinationsOptions) {
    const { store, publishers, routes } = options
    this.#options = options
    this.all = Object.entries(publishers).map(([name, publisher]) => {
      const isInStore = publisher.queue?.store === store
      return { name, publisher, isInStore, queue: isInStore ? publisher.queue.name : outgoingQueue(name) }
    })
    const [only] = this.all
    this.#routes = new RouteTable(routes ?? (only === undefined ? {} : { '*': only.name }))
  }

  /** The destinations that a relay sends to. */
  get relayed(): readonly Destination[] {
    return this.all.filter(({ isInStore }) => !isInStore)
  }

  get queues(): readonly string[] {
    return this.relayed.map(({ queue }) => queue)
  }

  get servedHere(): readonly string[] {
    return this.relayed.filter(({ name }) => this.#relays.has(name)).map(({ queue }) => queue)
  }

  of(type: string): Destination {
    const name = this.#routes.find(type)
    const destination = this.all.find((each) => each.name === name)
    if (destination === undefined) throw unroutable(type, this.#routes.patterns)
    this.#options.checkReturn(type, destination)
    return destination
  }

  check(type: string): void {
    this.of(type)
    this.#queue()
  }

  async store(tx: unknown, messages: readonly OutgoingMessage[]): Promise<void> {
    for (const [{ queue }, some] of Map.groupBy(messages, ({ type }) => this.of(type)))
      await this.#queue().send(tx, queue, some.map(toQueue))
  }

  committed(messages: readonly OutgoingMessage[]): void {
    for (const destination of new Set(messages.map(({ type }) => this.of(type)))) this.#wake(destination)
  }

  /** For a transaction that the caller ends: this process does not see its commit. */
  async storeForOthers(tx: unknown, messages: readonly OutgoingMessage[]): Promise<void> {
    if (messages.length === 0) return
    for (const { type } of messages) this.check(type)
    // An empty savepoint, because every store refuses one outside of a transaction, where the messages would be sent immediately.
    await this.#options.store.within(tx).savepoint(async () => {})
    await this.store(tx, messages)
    for (const { queue } of new Set(messages.map(({ type }) => this.of(type))))
      await this.#queue().announce?.(queue, tx)
  }

  /** Sends them without a transaction, to one destination after the other. */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    const unsent = new Set(messages)
    for (const [{ name, publisher }, some] of Map.groupBy(messages, ({ type }) => this.of(type))) {
      const results = await publisher.publish(some)
      for (const [index, message] of some.entries()) if (results[index]?.kind === 'sent') unsent.delete(message)
      const refused = some.findIndex((_, index) => results[index]?.kind === 'refused')
      if (refused >= 0) throw refusedBy(name, some[refused] as OutgoingMessage, results[refused] as Refused, unsent)
    }
  }

  /** Registers the relay of this process; without one, other processes are notified. The returned function removes it. */
  relayedBy({ name }: Destination, wake: () => void): () => void {
    this.#relays.set(name, wake)
    return () => void this.#relays.delete(name)
  }

  #wake({ name, publisher, queue, isInStore }: Destination): void {
    const { clock } = this.#options
    const wake = this.#relays.get(name)
    if (isInStore) publisher.queue?.sent()
    else if (wake !== undefined) wake()
    // The process that sends it polls anyway.
    else queueChannel(this.#queue(), queue).sent({ clock, onError: () => {} })
  }

  #queue(): Queue<unknown> {
    const { store } = this.#options
    if (store.queue !== undefined) return store.queue
    throw new JustonceError('STORE_CANNOT', { message: `${store.name} has no queue to keep published messages in.` })
  }
}

type Refused = PublishResult & { readonly kind: 'refused' }

function refusedBy(
  destination: string,
  { id, type }: OutgoingMessage,
  { error }: Refused,
  unsent: ReadonlySet<OutgoingMessage>,
): JustonceError {
  const more = unsent.size > 1 ? ` ${unsent.size} messages were not sent.` : ''
  return new JustonceError('PUBLISH_REFUSED', {
    message: `${destination} refused message ${id} of type ${type}.${more}`,
    cause: error,
    details: { unsent: [...unsent].map((message) => message.id) },
  })
}

function unroutable(type: string, patterns: readonly string[]): JustonceError {
  const known = patterns.length === 0 ? 'The app publishes nothing: it has no to.' : `Routes: ${patterns.join(', ')}.`
  return new JustonceError('ROUTE_UNKNOWN', { message: `Messages of type ${type} have no route. ${known}` })
}
