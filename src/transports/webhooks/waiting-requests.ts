import type { Delivery, IncomingMessage, Settlement } from '../../contracts/index.ts'
import type { Refusal } from './answers.ts'
import type { Receiver } from './receive.ts'

interface Reader {
  readonly maxInFlight: number
  /** Not yielded yet. */
  readonly arrived: Delivery[]
  /** All that take up room, whether yielded or not. */
  unsettled: number
  wake(): void
}

interface Waiting {
  readonly reader: Reader
  answer(refusal: Refusal | undefined): void
}

/** Requests that wait until their delivery is settled, and the consumers that settle them. */
export interface WaitingRequests extends Receiver {
  read(options: { readonly signal: AbortSignal; readonly maxInFlight: number }): AsyncIterable<readonly Delivery[]>
  settle(deliveries: readonly Delivery[], settlement: Settlement): void
  /** Ends all reading and refuses all waiting requests. */
  close(): void
}

const released: Refusal = { status: 503, reason: 'released' }
const late: Refusal = { status: 503, reason: 'not-settled-in-time' }

export function waitingRequests(): WaitingRequests {
  const readers = new Set<Reader>()
  // A delivery stays here until it is settled, even if its request was answered long ago: it still takes up room.
  const held = new Set<Waiting>()

  const answer = (waiting: Waiting, refusal: Refusal | undefined): void => {
    if (!held.delete(waiting)) return
    waiting.reader.unsettled--
    waiting.answer(refusal)
  }

  const letGo = (delivery: Delivery, refusal: Refusal | undefined): void => {
    answer(delivery.receipt as Waiting, refusal)
  }

  const end = (reader: Reader): void => {
    readers.delete(reader)
    for (const delivery of reader.arrived.splice(0)) letGo(delivery, released)
    reader.wake()
  }

  const withRoom = (): Reader | undefined =>
    [...readers]
      .filter((reader) => reader.unsettled < reader.maxInFlight)
      .sort((a, b) => a.unsettled - b.unsettled)
      .at(0)

  const refuseNow = (): Refusal | undefined => {
    if (readers.size === 0) return { status: 503, reason: 'nobody-consumes' }
    return withRoom() === undefined ? { status: 503, reason: 'too-many-in-flight' } : undefined
  }

  return {
    refuseNow,
    accept: (message, signal) => {
      if (signal.aborted) return Promise.resolve(late)
      const reader = withRoom()
      return reader === undefined ? Promise.resolve(refuseNow()) : hold(held, reader, message, signal)
    },
    async *read({ signal, maxInFlight }) {
      if (signal.aborted) return
      const reader: Reader = { maxInFlight, arrived: [], unsettled: 0, wake() {} }
      const onAbort = (): void => end(reader)
      readers.add(reader)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        while (readers.has(reader)) {
          const arrived = reader.arrived.splice(0)
          if (arrived.length > 0) yield arrived
          else await woken(reader)
        }
      } finally {
        signal.removeEventListener('abort', onAbort)
        end(reader)
      }
    },
    settle(deliveries, { kind }) {
      for (const delivery of deliveries) letGo(delivery, kind === 'done' ? undefined : released)
    },
    close() {
      for (const reader of [...readers]) end(reader)
      for (const waiting of [...held]) answer(waiting, released)
    },
  }
}

function hold(
  held: Set<Waiting>,
  reader: Reader,
  message: IncomingMessage,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const { promise, resolve } = Promise.withResolvers<Refusal | undefined>()
  const waiting: Waiting = {
    reader,
    answer(refusal) {
      signal.removeEventListener('abort', onLate)
      resolve(refusal)
    },
  }
  const delivery: Delivery = { message, receipt: waiting }
  const onLate = (): void => {
    const place = reader.arrived.indexOf(delivery)
    // Nobody has started on it, and its sender will retry, so it need not be handled now.
    if (place !== -1) {
      reader.arrived.splice(place, 1)
      held.delete(waiting)
      reader.unsettled--
    }
    resolve(late)
  }
  signal.addEventListener('abort', onLate, { once: true })
  held.add(waiting)
  reader.unsettled++
  reader.arrived.push(delivery)
  reader.wake()
  return promise
}

function woken(reader: Reader): Promise<void> {
  return new Promise((resolve) => {
    reader.wake = resolve
  })
}
