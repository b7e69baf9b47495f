import assert from 'node:assert/strict'
import type { Delivery, OutgoingMessage, Restore, Transport } from '../contracts/index.ts'
import type { TransportCaseContext } from './transport-case.ts'

const encoder = new TextEncoder()

export function outgoing(id: string, changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    id,
    type: 'note.created',
    body: encoder.encode(JSON.stringify({ id })),
    headers: {},
    sentAt: new Date('2030-01-01T00:00:00Z'),
    ...changes,
  }
}

/** `m1` to `m<count>`. */
export function outgoingList(count: number, changes: Partial<OutgoingMessage> = {}): readonly OutgoingMessage[] {
  return Array.from({ length: count }, (_, index) => outgoing(`m${index + 1}`, changes))
}

export function idsOf(deliveries: readonly Delivery[]): readonly (string | undefined)[] {
  return deliveries.map(({ message }) => message.id)
}

/** One iteration of a transport's deliveries, read in steps. */
export interface Reading {
  /** The next batch. A second call before it has arrived returns the same batch. */
  next(): Promise<readonly Delivery[]>
  /** Exactly this many, in any number of batches. More in the last batch is a failure. */
  take(count: number): Promise<readonly Delivery[]>
  /** Settles everything as done until all of these ids have arrived. Resolves to everything that arrived. */
  takeUntil(ids: readonly string[]): Promise<readonly Delivery[]>
  /** Aborts the signal and waits for the end. Resolves to what arrived after the abort. */
  stop(): Promise<readonly Delivery[]>
}

export function startReading(
  context: TransportCaseContext,
  transport: Transport,
  maxInFlight = 100,
  restore?: Restore,
  connected?: () => void,
): Reading {
  const patienceMs = context.patienceMs ?? 10_000
  const stopping = new AbortController()
  const iterator = transport
    .deliveries({ signal: stopping.signal, maxInFlight, restore, connected })
    [Symbol.asyncIterator]()
  let asked: Promise<IteratorResult<readonly Delivery[]>> | undefined

  const step = async (what: string): Promise<IteratorResult<readonly Delivery[]>> => {
    asked ??= iterator.next()
    const result = await within(patienceMs, asked, what)
    asked = undefined
    return result
  }

  const next = async (what = 'a batch'): Promise<readonly Delivery[]> => {
    const result = await step(what)
    assert.ok(!result.done, `the iteration ended while waiting for ${what}`)
    assert.ok(result.value.length > 0, 'a batch must not be empty')
    return result.value
  }

  return {
    next: () => next(),
    async take(count) {
      const taken: Delivery[] = []
      while (taken.length < count) taken.push(...(await next(`${count} deliveries, ${taken.length} have come`)))
      assert.equal(taken.length, count, `more than ${count} deliveries came: ${idsOf(taken)}`)
      return taken
    },
    async takeUntil(ids) {
      const taken: Delivery[] = []
      const missing = new Set<string | undefined>(ids)
      while (missing.size > 0) {
        const deliveries = await next(`${missing.size} messages, the first being ${[...missing][0]}`)
        await transport.settle(deliveries, { kind: 'done' })
        for (const id of idsOf(deliveries)) missing.delete(id)
        taken.push(...deliveries)
      }
      return taken
    },
    async stop() {
      stopping.abort()
      const late: Delivery[] = []
      for (;;) {
        const result = await step('the end of the iteration')
        if (result.done) return late
        late.push(...result.value)
      }
    },
  }
}

/**
 * Everything left in the queue, as a new connection sees it. Markers are sent after it, and everything that arrives until the
 * last of them is returned. There are several markers, because a transport without order may deliver one early.
 */
export async function remaining(context: TransportCaseContext): Promise<readonly Delivery[]> {
  const transport = await context.connect()
  const markers = Array.from({ length: 20 }, (_, index) => `marker-${index}`)
  await transport.publish(markers.map((id) => outgoing(id)))
  const reading = startReading(context, transport)
  const taken = await reading.takeUntil(markers)
  await reading.stop()
  await transport.close()
  return taken.filter(({ message }) => !message.id?.startsWith('marker-'))
}

async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const impatience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `waited ${ms} ms for ${what}` })), ms)
  })
  return Promise.race([promise, impatience]).finally(() => clearTimeout(timer))
}
