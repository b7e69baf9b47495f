import type {
  Clock,
  OutgoingMessage,
  PublishedMessage,
  Publisher,
  PublishResult,
  Queue,
  Store,
} from '../contracts/index.ts'
import { delayedUnder, outgoingQueue } from '../encoding/outgoing-queue.ts'
import { toQueue } from '../encoding/packed-message.ts'
import { JustonceError } from '../errors/index.ts'
import { queueChannel } from '../queues/queue-channel.ts'
import { delayedRow } from './delayed-row.ts'
import { DueTimers } from './due-timers.ts'
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
  #elsewhere: readonly string[] = []
  #timers: DueTimers | undefined

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

  /** Where delayed messages for the destinations of this app wait. */
  get ownDelayedNames(): readonly string[] {
    return this.all.map(({ queue }) => delayedUnder(queue))
  }

  /** Where delayed messages wait that this process may move: its own, and those of apps that it has learned of. */
  get delayedNames(): readonly string[] {
    return [...new Set([...this.ownDelayedNames, ...this.#elsewhere])]
  }

  learnDelayed(names: readonly string[]): void {
    this.#elsewhere = names
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

  async store(tx: unknown, messages: readonly PublishedMessage[]): Promise<void> {
    const { store, clock } = this.#options
    for (const [destination, some] of Map.groupBy(messages, ({ type }) => this.of(type))) {
      const queue = this.#queue()
      const atOnce = some.filter(({ due }) => due === undefined)
      if (atOnce.length > 0) await queue.send(tx, destination.queue, atOnce.map(toQueue))
      const rows = some.flatMap((each) =>
        each.due === undefined ? [] : delayedRow(destination, each, each.due, clock.now()),
      )
      if (rows.length > 0) await store.parking.park(tx, rows)
    }
  }

  committed(messages: readonly PublishedMessage[]): void {
    for (const { due } of messages) if (due !== undefined) this.#timers?.add(due)
    const atOnce = messages.filter(({ due }) => due === undefined)
    for (const destination of new Set(atOnce.map(({ type }) => this.of(type)))) this.#wake(destination)
  }

  /** Delayed or redriven messages were put into these queues, and that is committed. */
  moved(queues: readonly string[]): void {
    for (const queue of new Set(queues)) {
      const destination = this.all.find((each) => each.queue === queue)
      if (destination !== undefined) this.#wake(destination)
      else this.#announce(queue)
    }
  }

  /** Stores them in a transaction of their own. */
  async storeAlone(messages: readonly PublishedMessage[]): Promise<void> {
    for (const { type } of messages) this.check(type)
    await this.#options.store.transaction((tx) => this.store(tx, messages))
    this.committed(messages)
  }

  /** For a transaction that the caller ends: this process does not see its commit. */
  async storeForOthers(tx: unknown, messages: readonly PublishedMessage[]): Promise<void> {
    if (messages.length === 0) return
    for (const { type } of messages) this.check(type)
    await this.checkOpen(tx)
    await this.store(tx, messages)
    for (const { due } of messages) if (due !== undefined) this.#timers?.add(due)
    const atOnce = messages.filter(({ due }) => due === undefined)
    for (const { queue } of new Set(atOnce.map(({ type }) => this.of(type)))) await this.#queue().announce?.(queue, tx)
  }

  /** Rejects unless this is an open transaction. Outside of one, what is written would stand although the caller rolls back. */
  async checkOpen(tx: unknown): Promise<void> {
    // An empty savepoint, because every store refuses one outside of a transaction.
    await this.#options.store.within(tx).savepoint(async () => {})
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

  /** Registers what moves delayed messages in this process; it is woken when one of them is due. The returned function removes it. */
  movedBy(wake: () => void): () => void {
    const timers = new DueTimers(this.#options.clock, wake)
    this.#timers = timers
    return () => {
      timers.end()
      this.#timers = undefined
    }
  }

  #wake({ name, publisher, queue, isInStore }: Destination): void {
    const wake = this.#relays.get(name)
    if (isInStore) publisher.queue?.sent()
    else if (wake !== undefined) wake()
    else this.#announce(queue)
  }

  #announce(queue: string): void {
    // The process that takes from it polls anyway.
    queueChannel(this.#queue(), queue).sent({ clock: this.#options.clock, onError: () => {} })
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
