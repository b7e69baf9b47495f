import { changeSignal, systemClock } from '../../clock/index.ts'
import type {
  Clock,
  Delivery,
  InsideTransaction,
  Queue,
  QueueInStore,
  Store,
  Transport,
} from '../../contracts/index.ts'
import { toQueue } from '../../encoding/packed-message.ts'
import { quiet } from '../../errors/index.ts'
import { listenForNews } from '../../queues/listening.ts'
import { queueChannel } from '../../queues/queue-channel.ts'
import { checkQueueOptions } from './check-queue-options.ts'
import { gatheredSends } from './gathered-sends.ts'
import { heldDeliveries } from './held-deliveries.ts'
import { readQueue } from './read-queue.ts'

/** What `queueTransport()` takes. */
export interface QueueTransportOptions<Tx> {
  /** The app's store. The queue is in its database. */
  readonly store: Store<Tx> & { readonly queue: Queue<Tx> }
  /** Default: `default`. */
  readonly queue?: string
  /**
   * How long a message stays hidden after its consumer has died. A live consumer keeps it hidden while it works on it. Default:
   * 30,000.
   */
  readonly visibilityMs?: number
  /**
   * How often an idle consumer polls. Where the store notifies consumers of new messages, they wake sooner, and poll more rarely
   * the longer they are idle: at most ten times. Default: 200.
   */
  readonly pollMs?: number
  /** The clock, for tests. Default: the system clock. */
  readonly clock?: Clock
  /** Receives errors that the transport recovers from: the store was down and will be asked again. */
  readonly onError?: (error: unknown) => void
}

/** A transport in the same database as the store, so settling is part of the transaction. */
export interface QueueTransport extends Transport {
  readonly inside: InsideTransaction
  readonly queue: QueueInStore
}

/**
 * Uses the database as a broker: no other server, and no gap between the commit and the acknowledgement.
 *
 * @example
 * const store = postgresStore({ pool })
 * const app = justonce({ store, transport: queueTransport({ store, queue: 'notes' }) })
 */
export function queueTransport<Tx>(options: QueueTransportOptions<Tx>): QueueTransport {
  checkQueueOptions(options)
  const { store, queue: name = 'default', visibilityMs = 30_000, pollMs = 200, clock = systemClock } = options
  const { queue } = store
  const source = `queue:${name}`
  const onError = quiet(options.onError)
  const channel = queueChannel(queue, name)
  const [news, room] = [changeSignal(clock), changeSignal(clock)]
  const held = heldDeliveries({ queue, name, visibilityMs, clock, onError, onRoom: room.announce })
  const announceSent = (): void => channel.sent({ clock, onError })
  const wakeFollowers = (settled: readonly Delivery[]): void => {
    if (settled.some(({ message }) => message.key !== undefined)) channel.freed()
  }
  const send = gatheredSends(
    (messages) => queue.send(undefined, name, messages),
    (error) => store.classify(error) === 'unavailable',
  )
  const underWay = new Set<Promise<unknown>>()
  const watch = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work)
    const forget = (): void => void underWay.delete(work)
    work.then(forget, forget)
    return work
  }
  const reading = { queue, name, source, visibilityMs, pollMs, clock, held, news, room, onError, watch }
  let closing = new AbortController()

  return {
    name: source,
    destination: source,
    capabilities: { order: 'key', keepsBehind: true, deliveryCount: 'count' },
    async *deliveries({ signal: wanted, maxInFlight, maxBytes, appetite, connected }) {
      const left = new AbortController()
      const signal = AbortSignal.any([wanted, closing.signal, left.signal])
      if (signal.aborted) return
      // The app itself waits for its store.
      connected?.()
      const stopHearing = channel.onSent(news.announce)
      const stopGrowing = appetite?.onGrown(room.announce)
      let hears = false
      const onHearing = (isHearing: boolean): void => {
        hears = isHearing
      }
      const listening = watch(
        listenForNews(queue, name, { signal, clock, retryMs: 5_000, wake: news.announce, onHearing, onError }),
      )
      try {
        const isHearing = (): boolean => hears
        yield* readQueue(reading, { signal, maxInFlight, maxBytes, appetite, ended: closing.signal, isHearing })
      } finally {
        left.abort()
        stopHearing()
        stopGrowing?.()
        await listening
      }
    },
    async settle(deliveries, settlement) {
      if (settlement.kind === 'done') {
        await held.settle(deliveries, (taken) => queue.remove(undefined, name, taken.map(ticketOf)))
        wakeFollowers(deliveries)
        return
      }
      const given = await held.giveBack(deliveries)
      if (given > 0) announceSent()
    },
    async publish(messages) {
      if (messages.length > 0) {
        await send(messages.map(toQueue))
        announceSent()
      }
      return messages.map(() => ({ kind: 'sent' as const }))
    },
    inside: {
      store,
      async settle(tx, deliveries, effective) {
        await queue.remove(tx as Tx, name, held.tickets(deliveries), { present: held.tickets(effective) })
      },
      forget(deliveries) {
        held.forget(deliveries)
        wakeFollowers(deliveries)
      },
    },
    queue: { store, name, sent: announceSent },
    async close() {
      closing.abort()
      closing = new AbortController()
      await Promise.allSettled(underWay)
      const given = await held.giveBackAll().catch(onError)
      if (given) announceSent()
      await channel.flush()
    },
  }
}

function ticketOf({ ticket }: { readonly ticket: string }): string {
  return ticket
}
