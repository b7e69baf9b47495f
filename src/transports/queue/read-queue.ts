import { backoffMs, type ChangeSignal } from '../../clock/index.ts'
import type { Appetite, Clock, Delivery, Queue } from '../../contracts/index.ts'
import type { HeldDeliveries, Reader } from './held-deliveries.ts'
import { toDelivery } from './to-delivery.ts'

/** One take asks for no more, however large `maxInFlight` is: it is one statement and one answer. */
const largestTake = 1_000

export interface QueueReadingOptions<Tx> {
  readonly queue: Queue<Tx>
  readonly name: string
  readonly source: string
  readonly visibilityMs: number
  readonly pollMs: number
  readonly clock: Clock
  readonly held: HeldDeliveries
  /** Something may have been sent. */
  readonly news: ChangeSignal
  /** Something was settled. */
  readonly room: ChangeSignal
  onError(error: unknown): void
  /** Told of every take, so that closing can wait for those that are under way. */
  watch<T>(take: Promise<T>): Promise<T>
}

export interface ReadingLimits {
  readonly signal: AbortSignal
  readonly maxInFlight: number
  readonly maxBytes?: number | undefined
  readonly appetite?: Appetite | undefined
  /** Aborted when the transport is closed. */
  readonly ended?: AbortSignal | undefined
}

/**
 * Takes what is there and yields it at once. A store that is down does not end it: it goes on when the store is back.
 * Nothing is taken ahead, so that all there is to give back at the end is what a take brings after the abort.
 */
export async function* readQueue<Tx>(
  options: QueueReadingOptions<Tx>,
  { signal, maxInFlight, maxBytes = Number.MAX_SAFE_INTEGER, appetite, ended }: ReadingLimits,
): AsyncGenerator<readonly Delivery[], void, void> {
  const { pollMs, clock, news, room, onError, watch } = options
  const reader: Reader = { unsettled: 0, bytes: 0 }
  let failures = 0

  while (!signal.aborted) {
    // Before looking: what changes while we look must not be missed.
    const [seenRoom, seenNews] = [room.seen(), news.seen()]
    const most = Math.min(maxInFlight, appetite?.now() ?? maxInFlight)
    const limit = Math.min(most - reader.unsettled, largestTake)
    if (limit < 1 || reader.bytes >= maxBytes) {
      await room.since(seenRoom, { signal })
      continue
    }
    const deliveries = await watch(
      take(options, { reader, limit, signal, maxBytes: maxBytes - reader.bytes, ended }),
    ).catch(onError)
    if (deliveries === undefined) {
      await clock.sleep(backoffMs(failures++, clock), signal)
      continue
    }
    failures = 0
    if (deliveries.length > 0) yield deliveries
    else await news.since(seenNews, { signal, ms: pollMs })
  }
}

async function take<Tx>(
  { queue, name, source, visibilityMs, held, onError }: QueueReadingOptions<Tx>,
  { reader, limit, signal, maxBytes, ended }: Omit<ReadingLimits, 'maxInFlight'> & { reader: Reader; limit: number },
): Promise<readonly Delivery[]> {
  const taken = await queue.take(name, { limit, visibilityMs, ...(maxBytes !== undefined && { maxBytes }) })
  const deliveries = taken.map((queued) => ({
    ...toDelivery(queued, source, ended),
    receipt: held.add(queued, reader),
  }))
  if (!signal.aborted) return deliveries
  await held.giveBack(deliveries).catch(onError)
  return []
}
