import { type Histogram, mergeInto } from './histogram.ts'

/** What one handler did in some time. */
export interface HandlerCounts {
  processed: number
  /** Duplicates that this process recognised without asking the database. */
  knownHere: number
  /** Duplicates that the database recognised. */
  knownInStore: number
  /** Attempts that failed, whether or not another one follows. */
  failed: number
  /** Attempts after the first, however they ended. */
  retried: number
  /** Messages that became dead letters. */
  dead: number
  /** Messages that were skipped because they came too late. */
  expired: number
  /** How long its calls took. A batch handler is called once for many messages. */
  readonly durations: Map<number, number>
}

/** What was sent to one destination in some time. */
export interface DestinationCounts {
  sent: number
  /** Could not be sent. Most of them are sent later. */
  failed: number
}

export interface BatchCounts {
  count: number
  messages: number
  largest: number
  /** The time that they took, one after the other. */
  ms: number
}

/** What one process did in some time. */
export interface Counts {
  readonly handlers: Map<string, HandlerCounts>
  readonly destinations: Map<string, DestinationCounts>
  readonly batches: BatchCounts
  /** Messages that handlers stored to be sent. */
  published: number
}

export function noCounts(): Counts {
  return {
    handlers: new Map(),
    destinations: new Map(),
    batches: { count: 0, messages: 0, largest: 0, ms: 0 },
    published: 0,
  }
}

export function isNothing({ handlers, destinations, batches, published }: Counts): boolean {
  return handlers.size === 0 && destinations.size === 0 && batches.count === 0 && published === 0
}

const handlerFields = [
  'processed',
  'knownHere',
  'knownInStore',
  'failed',
  'retried',
  'dead',
  'expired',
] as const satisfies readonly (keyof HandlerCounts)[]

/** The counts of a handler, made if there are none yet. */
export function countsOf(counts: Counts, handler: string): HandlerCounts {
  const known = counts.handlers.get(handler)
  if (known !== undefined) return known
  const made: HandlerCounts = {
    ...{ processed: 0, knownHere: 0, knownInStore: 0, failed: 0, retried: 0, dead: 0, expired: 0 },
    durations: new Map(),
  }
  counts.handlers.set(handler, made)
  return made
}

export function countsOfDestination(counts: Counts, destination: string): DestinationCounts {
  const known = counts.destinations.get(destination)
  if (known !== undefined) return known
  const made = { sent: 0, failed: 0 }
  counts.destinations.set(destination, made)
  return made
}

/** Adds the second to the first. */
export function addCounts(to: Counts, { handlers, destinations, batches, published }: Counts): void {
  for (const [name, counts] of handlers) {
    const known = countsOf(to, name)
    for (const field of handlerFields) known[field] += counts[field]
    mergeInto(known.durations, counts.durations)
  }
  for (const [name, { sent, failed }] of destinations) {
    const known = countsOfDestination(to, name)
    known.sent += sent
    known.failed += failed
  }
  to.batches.count += batches.count
  to.batches.messages += batches.messages
  to.batches.largest = Math.max(to.batches.largest, batches.largest)
  to.batches.ms += batches.ms
  to.published += published
}

/** As short as it gets: one row of numbers for each handler, because there is one of these per process and minute. */
export type PackedCounts = {
  readonly h?: Readonly<Record<string, readonly [numbers: readonly number[], durations: readonly number[]]>>
  readonly d?: Readonly<Record<string, readonly [sent: number, failed: number]>>
  readonly b?: readonly [count: number, messages: number, largest: number, ms: number]
  readonly p?: number
}

export function packCounts({ handlers, destinations, batches, published }: Counts): PackedCounts {
  const { count, messages, largest, ms } = batches
  return {
    ...(handlers.size > 0 && {
      h: Object.fromEntries(
        [...handlers].map(([name, counts]) => [
          name,
          [handlerFields.map((field) => counts[field]), [...counts.durations].flat()] as const,
        ]),
      ),
    }),
    ...(destinations.size > 0 && {
      d: Object.fromEntries([...destinations].map(([name, { sent, failed }]) => [name, [sent, failed] as const])),
    }),
    ...(count > 0 && { b: [count, messages, largest, Math.round(ms)] as const }),
    ...(published > 0 && { p: published }),
  }
}

/** Whatever is missing or no number is 0: another version may have written it. */
export function unpackCounts({ h = {}, d = {}, b = [0, 0, 0, 0], p = 0 }: PackedCounts): Counts {
  const counts = noCounts()
  for (const [name, [numbers = [], durations = []]] of Object.entries(h)) {
    const known = countsOf(counts, name)
    for (const [place, field] of handlerFields.entries()) known[field] = whole(numbers[place])
    mergeInto(known.durations, pairsOf(durations))
  }
  for (const [name, [sent, failed]] of Object.entries(d))
    counts.destinations.set(name, { sent: whole(sent), failed: whole(failed) })
  const [count, messages, largest, ms] = b
  Object.assign(counts.batches, {
    ...{ count: whole(count), messages: whole(messages), largest: whole(largest), ms: whole(ms) },
  })
  counts.published = whole(p)
  return counts
}

function whole(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

function pairsOf(flat: readonly number[]): Histogram {
  const pairs = new Map<number, number>()
  for (let place = 0; place + 1 < flat.length; place += 2) pairs.set(whole(flat[place]), whole(flat[place + 1]))
  return pairs
}
