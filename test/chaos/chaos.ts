import { setTimeout as pause } from 'node:timers/promises'
import type { CrashPoint } from '../../src/testing/index.ts'
import type { BrokenConsumer, ChildEvent, ConsumerConfig, DatabaseAddress } from '../crash/fixtures/consumer-config.ts'
import { Random } from '../simulator/random.ts'
import { type FaultKind, faults } from './faults.ts'
import { openPlace, type Place, type PlaceOptions } from './place.ts'
import { Producer } from './producer.ts'
import { Recoveries } from './recoveries.ts'
import type { ChaosResult } from './result.ts'
import { Slot } from './slot.ts'
import { strikeAtRandom } from './strikes.ts'

export interface ChaosOptions extends PlaceOptions {
  readonly durationMs: number
  /** Decides what is broken and for how long; what the processes are doing just then is up to the machine. */
  readonly seed: number
  /** New messages per second. */
  readonly rate?: number
  /** A fault on average every so often; mostly long enough for a process to get back to work. Default 1,000. */
  readonly faultEveryMs?: number
  /** Only these faults. */
  readonly kinds?: readonly FaultKind[]
  /** A consumer that does it wrong, and where it is vulnerable, to see that it is detected. */
  readonly broken?: { readonly consumer: BrokenConsumer; readonly lingersAt: CrashPoint }
  /** It goes on for a while longer until this is so: on a slow machine less happens in the same time. */
  isEnough?(struck: Readonly<Record<FaultKind, number>>, seen: { duplicates: number; recovered: number }): boolean
  /** Ends it early, in good order. */
  readonly signal?: AbortSignal
  /** A line every few seconds. */
  say?(line: string): void
}

/** How long clients wait for an answer: a half-closed connection gives none. */
const queryTimeoutMs = 3_000
/** A killed process has taken messages, and a frozen one has locks; others get them after this long. */
const [visibilityMs, idleTimeoutMs] = [2_000, 2_000]
const drainPatienceMs = 90_000
/** How much longer it goes on at most. */
const extraMs = 45_000
const sayEveryMs = 5_000
const lookEveryMs = 100

/** Real processes at work while everything around them breaks at random; then it counts what is in the database. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  await using place = await openPlace(options)
  const { world } = place
  const { broken, kinds, faultEveryMs: everyMs = 1_000, say = () => {} } = options
  const random = new Random(options.seed)
  const recoveries = new Recoveries()
  const counts = Object.fromEntries(faults.map(({ kind }) => [kind, 0])) as Record<FaultKind, number>
  const heard = { deliveries: 0, duplicates: 0, parked: 0, processed: 0 }
  const begunAt = performance.now()
  const secondsNow = (): number => (performance.now() - begunAt) / 1_000
  const enough = new AbortController()
  const end = AbortSignal.any([
    enough.signal,
    AbortSignal.timeout(options.durationMs + extraMs),
    ...(options.signal === undefined ? [] : [options.signal]),
  ])
  const endIfEnough = (): void => {
    const isTimeUp = performance.now() - begunAt >= options.durationMs
    if (
      isTimeUp &&
      (options.isEnough?.(counts, { duplicates: heard.duplicates, recovered: recoveries.measured }) ?? true)
    )
      enough.abort()
  }

  const hear = (slot: Slot, { event, keys = [] }: ChildEvent): void => {
    if (event === 'delivered') heard.deliveries += keys.length
    else if (event === 'duplicate') heard.duplicates++
    else if (event === 'parked') heard.parked++
    else if (event === 'processed') {
      heard.processed++
      recoveries.committed(slot)
    }
  }
  const slots = Array.from({ length: options.processes }, (_, index) => {
    return new Slot({ world, proxy: place.proxies[index], config: configOf(place, index, broken), hear })
  })
  const producer = new Producer({ world, ratePerSecond: options.rate ?? 50, random: random.fork(), signal: end })
  const status = (): string => {
    const struck = faults.filter(({ kind }) => counts[kind] > 0).map(({ kind, title }) => `${counts[kind]} ${title}`)
    const done = `${producer.messages} messages, ${heard.processed} handler runs committed`
    return `${place.name}: ${secondsNow().toFixed(0)} s, ${done}, ${struck.join(', ')}`
  }

  const strikes = strikeAtRandom({
    ...{ place, slots, kinds, everyMs, random: random.fork(), signal: end },
    // Who is just starting can do nothing wrong.
    isTarget: (slot) => broken === undefined || slot.isAtWork,
    begun({ kind, hitsAll }, slot) {
      counts[kind]++
      recoveries.interrupted(hitsAll ? undefined : slot)
    },
    over: ({ kind, hitsAll }, slot, at) => recoveries.begun(kind, hitsAll ? undefined : slot, at),
  })
  await Promise.all([
    strikes,
    producer.run(),
    repeatedly(() => say(status()), sayEveryMs, end),
    repeatedly(endIfEnough, lookEveryMs, end),
  ])
  say(`${place.name}: everything is whole again; waiting until all is done`)

  const problems: string[] = []
  const isDrained = await world.untilDrained(drainPatienceMs).then(
    () => true,
    () => false,
  )
  if (!isDrained)
    problems.push(...slots.map((slot) => `Not everything was done, and this is what it did:\n${slot.story()}`))
  // Before anything is counted: nobody may write after that.
  for (const slot of slots) {
    const trouble = broken === undefined ? await slot.stop() : await slot.end()
    problems.push(...slot.crashes, ...(trouble === undefined ? [] : [trouble]))
  }

  // Broken consumers send no follow-ups.
  const parts = broken === undefined ? [1, 2, 3] : [1, 2]
  return {
    place: place.name,
    seconds: secondsNow(),
    messages: producer.messages,
    copies: producer.copies,
    deliveries: heard.deliveries,
    duplicates: heard.duplicates,
    parked: heard.parked,
    faults: counts,
    effects: (await world.readLedger()).length / parts.length,
    verdict: await world.verdict(parts),
    stuck: isDrained ? undefined : await world.remaining(),
    problems,
    recoveries: recoveries.summary(),
  }
}

function configOf(place: Place, index: number, broken: ChaosOptions['broken']): Partial<ConsumerConfig> {
  return {
    ...(broken && { broken: broken.consumer, stops: [{ point: broken.lingersAt, how: 'linger', always: true }] }),
    database: throughProxy(place, index),
    // So each kind of message is handled in both ways, in processes that compete for it.
    interleaving: [index % 2 === 0 ? 'record' : 'follow'],
    batchMax: 10,
    failureRate: 0.02,
    retryDelayMs: 200,
    visibilityMs,
    idleTimeoutMs,
  }
}

function throughProxy({ world, proxies }: Place, index: number): DatabaseAddress {
  if (world.database.kind === 'sqlite') return world.database
  const url = new URL(proxies[index]?.url(world.database.url) ?? world.database.url)
  if (world.database.kind === 'redis') return { ...world.database, url: url.href, socketTimeoutMs: queryTimeoutMs }
  if (world.database.kind === 'mysql') return { kind: 'mysql', url: url.href }
  url.searchParams.set('query_timeout', String(queryTimeoutMs))
  return { ...world.database, url: url.href }
}

async function repeatedly(work: () => void, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs, undefined, { signal }).catch(() => {})
    if (!signal.aborted) work()
  }
}
