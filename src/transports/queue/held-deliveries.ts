import { renewEveryMs } from '../../clock/index.ts'
import type { Clock, Delivery, Queue, QueuedMessage, QueueTicket } from '../../contracts/index.ts'

/** One iteration, and how many of its deliveries are unsettled. */
export interface Reader {
  unsettled: number
  /** The total size of their bodies. */
  bytes: number
}

interface Held {
  readonly ticket: string
  readonly deliveries: number
  readonly reader: Reader
  readonly bytes: number
  /** It is being settled: still unsettled, but its hiding is no longer renewed. */
  settling: boolean
}

export interface HeldDeliveriesOptions<Tx> {
  readonly queue: Queue<Tx>
  readonly name: string
  readonly visibilityMs: number
  readonly clock: Clock
  onError(error: unknown): void
  /** Called when deliveries were settled, so there is room for more. */
  onRoom(): void
}

/** The deliveries that are not settled yet. They stay hidden from other consumers while this process lives. */
export interface HeldDeliveries {
  /** Returns the receipt of the delivery. */
  add(queued: QueuedMessage, reader: Reader): object
  /** Also of deliveries that were given back while they were being handled. */
  tickets(deliveries: readonly Delivery[]): readonly string[]
  forget(deliveries: readonly Delivery[]): void
  /**
   * Calls `how` to settle those that are still held. They are forgotten even if it fails: a message that could not be settled
   * must be redelivered, and that happens once it is no longer hidden. Resolves to how many there were.
   */
  settle(deliveries: readonly Delivery[], how: (taken: readonly QueueTicket[]) => Promise<void>): Promise<number>
  /** Makes them available to other consumers. Resolves to how many there were. */
  giveBack(deliveries: readonly Delivery[]): Promise<number>
  /** Gives everything back and stops hiding. */
  giveBackAll(): Promise<number>
}

export function heldDeliveries<Tx>(options: HeldDeliveriesOptions<Tx>): HeldDeliveries {
  const { queue, name, visibilityMs, clock, onError, onRoom } = options
  const held = new Set<Held>()
  let renewal: { cancel(): void } | undefined
  let renewing: Promise<void> = Promise.resolve()

  const present = (deliveries: readonly Delivery[]): Held[] =>
    deliveries.map(({ receipt }) => receipt as Held).filter((each) => held.has(each))

  const renew = async (): Promise<void> => {
    const taken = [...held].filter(({ settling }) => !settling).map(toTicket)
    if (taken.length > 0) await queue.hide(name, taken, visibilityMs).catch(onError)
  }

  const renewLater = (): void => {
    renewal ??= clock.timer(renewEveryMs(visibilityMs), () => {
      renewing = renew().then(() => {
        renewal = undefined
        if (held.size > 0) renewLater()
      })
    })
  }

  const forget = (given: readonly Held[]): void => {
    for (const each of given) {
      if (!held.delete(each)) continue
      each.reader.unsettled--
      each.reader.bytes -= each.bytes
    }
    onRoom()
  }

  const settle = async (given: readonly Held[], how: (taken: readonly QueueTicket[]) => Promise<void>) => {
    const taken = given.filter(({ settling }) => !settling)
    if (taken.length === 0) return 0
    for (const each of taken) each.settling = true
    try {
      await how(taken.map(toTicket))
      return taken.length
    } finally {
      forget(taken)
    }
  }

  const giveBack = (given: readonly Held[]): Promise<number> =>
    settle(given, async (taken) => {
      // A renewal that is still running would hide the released messages again.
      await renewing
      await queue.hide(name, taken, 0, { untaken: true })
    })

  return {
    add({ ticket, deliveries, message }, reader) {
      const bytes = message.body.byteLength
      const receipt: Held = { ticket, deliveries, reader, bytes, settling: false }
      held.add(receipt)
      reader.unsettled++
      reader.bytes += bytes
      renewLater()
      return receipt
    },
    tickets: (deliveries) => deliveries.map(({ receipt }) => (receipt as Held).ticket),
    forget: (deliveries) => forget(present(deliveries)),
    settle: (deliveries, how) => settle(present(deliveries), how),
    giveBack: (deliveries) => giveBack(present(deliveries)),
    async giveBackAll() {
      renewal?.cancel()
      renewal = undefined
      return giveBack([...held])
    },
  }
}

function toTicket({ ticket, deliveries }: Held): QueueTicket {
  return { ticket, deliveries }
}
