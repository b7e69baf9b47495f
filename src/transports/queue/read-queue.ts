import { backoffMs, type ChangeSignal } from '../../clock/index.ts'
import type { Appetite, Clock, Delivery, Queue } from '../../contracts/index.ts'
import type { HeldDeliveries, Reader } from './held-deliveries.ts'
import { toDelivery } from './to-delivery.ts'

/** The limit of one take, however large `maxInFlight` is: a take is one statement with one result. */
const largestTake = 1_000

export interface QueueReadingOptions<Tx> {
  readonly queue: Queue<Tx>
  readonly name: string
  readonly source: string
  readonly visibilityMs: number
  readonly pollMs: number
  readonly clock: Clock
  readonly held: HeldDeliveries
  /** Announces that messages may have been sent. */
  readonly news: ChangeSignal
  /** Announces that deliveries were settled. */
  readonly room: ChangeSignal
  onError(error: unknown): void
  /** Called with every take, so that closing can wait for those that are still running. */
  watch<T>(take: Promise<T>): Promise<T>
}

export interface ReadingLimits {
  readonly signal: AbortSignal
  readonly maxInFlight: number
  readonly maxBytes?: number | undefined
  readonly appetite?: Appetite | undefined
  /** Aborted when the transport is closed. */
  readonly ended?: AbortSignal | undefined
  /** Whether other processes are heard when they send something. */
  isHearing?(): boolean
}

/** Where others are heard, a poll finds only what a dead process has left. So many idle processes do not keep a database busy. */
const mostPollPauses = 10

/** A take that has failed is followed by one of so much less. Where something is wrong with all takes, that costs little. */
const shareAfterFailure = 1 / 16

/**
 * Takes the available messages and yields them at once. If the store is down, it retries until the store is back. Nothing is
 * prefetched, so only a take that finishes after the abort must be given back.
 */
export async function* readQueue<Tx>(
  options: QueueReadingOptions<Tx>,
  { signal, maxInFlight, maxBytes = Number.MAX_SAFE_INTEGER, appetite, ended, isHearing }: ReadingLimits,
): AsyncGenerator<readonly Delivery[], void, void> {
  const { pollMs, clock, news, room, onError, watch } = options
  const reader: Reader = { unsettled: 0, bytes: 0 }
  let failures = 0
  let emptyTakes = 0
  let share = 1

  while (!signal.aborted) {
    // Read before taking, so that no change during the take is missed.
    const [seenRoom, seenNews] = [room.seen(), news.seen()]
    const most = Math.min(maxInFlight, appetite?.now() ?? maxInFlight)
    const limit = Math.min(most - reader.unsettled, largestTake)
    if (limit < 1 || reader.bytes >= maxBytes) {
      await room.since(seenRoom, { signal })
      continue
    }
    const deliveries = await watch(
      take(options, { reader, limit, signal, maxBytes: Math.max(1, (maxBytes - reader.bytes) * share), ended }),
    ).catch(onError)
    // It may have been too much for the time that an answer may take.
    share = deliveries === undefined ? share * shareAfterFailure : Math.min(1, share * 2)
    if (deliveries === undefined) {
      await clock.sleep(backoffMs(failures++, clock), signal)
      continue
    }
    failures = 0
    emptyTakes = deliveries.length > 0 ? 0 : emptyTakes + 1
    const pauses = isHearing?.() ? Math.min(emptyTakes, mostPollPauses) : 1
    if (deliveries.length > 0) yield deliveries
    else await news.since(seenNews, { signal, ms: pollMs * pauses })
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
