import { Activity } from '../../src/consumer/activity.ts'
import { AdaptiveBatch } from '../../src/consumer/adaptive-batch.ts'
import { AtOnce } from '../../src/consumer/at-once.ts'
import type { BatchInTurn } from '../../src/consumer/batch-in-turn.ts'
import { Chains, type TakenBatch } from '../../src/consumer/chains.ts'
import type { Delivery } from '../../src/contracts/index.ts'
import { alongShare, type Costs, Database, usualCosts } from './database.ts'
import type { Process, Step } from './virtual-time.ts'

export interface World {
  readonly costs?: Partial<Costs>
  /** Processors of the database. */
  readonly cores?: number
  readonly rows: number
  /** Whether the row that a message changes is the key of the message. */
  readonly keyed?: boolean
  readonly inFlight?: number
  readonly connections: number
  readonly messages: number
  readonly interleaved?: boolean
  /** How much longer or shorter things take by chance, from 0 to 1. */
  readonly noise?: number
  readonly seed?: number
}

/** Always the same size, and as many batches at once: what a person would find by trying for a day. */
export interface Fixed {
  readonly size: number
  readonly atOnce: number
}

export interface Run {
  readonly perSecond: number
  readonly conflicts: number
  readonly sizes: readonly number[]
}

/** One transaction. */
interface Attempt {
  readonly waitedMs: number
  /** The time that its calls took; `undefined` after a conflict. */
  readonly callsMs: number | undefined
}

const type = 'transfer'

/** Handles all messages as a consumer does, with the real decisions and an imagined database. */
export function consume(world: World, fixed?: Fixed): Run {
  const { rows, keyed = false, inFlight = 200, connections, messages, interleaved = false } = world
  const { database, random } = place(world)
  const { costs } = database
  const { time } = database
  const most = Math.max(1, connections - Math.ceil(connections / 4))
  const activity = new Activity({ monotonicMs: () => time.nowMs })
  const options = { max: 100, budgetMs: 100, ...(fixed && { max: fixed.size, start: fixed.size }) }
  const workers = new AtOnce(most, () => database.clientMs)
  const sizes = new AdaptiveBatch(options, () => interleaved)
  const atOnce = (): number => fixed?.atOnce ?? workers.limit
  const chains = new Chains()
  const rowOf = new Map<Delivery, number>()
  let sent = 0
  let settled = 0
  let conflicts = 0
  let endedAtMs = 0
  const used: number[] = []
  let wakes: (() => void)[] = []
  const wake = (): void => {
    const all = wakes
    wakes = []
    for (const each of all) time.at(0, each)
  }
  const mayBegin = () => sizes.mayBegin(type)

  const refill = (): void => {
    const more: Delivery[] = []
    while (sent < messages && sent - settled < inFlight) {
      const row = Math.floor(random() * rows)
      const message = { id: String(sent++), type, body: new Uint8Array(), key: keyed ? String(row) : undefined }
      const delivery = { message } as unknown as Delivery
      rowOf.set(delivery, row)
      more.push(delivery)
    }
    chains.add(more, time.nowMs)
    wake()
  }

  function* alone(delivery: Delivery): Process {
    const transaction = {}
    yield* database.client(costs.batchMs + costs.messageMs)
    yield* database.statement()
    yield* database.statement()
    yield* database.update(transaction, rowOf.get(delivery) as number, () => {})
    yield* database.commit(transaction)
  }

  function* together(deliveries: readonly Delivery[], inTurn?: BatchInTurn): Generator<Step, Attempt, void> {
    const transaction = {}
    let failed = false
    const fail = (): void => {
      failed = true
    }
    const lockTimeoutMs = fixed ? 100 : sizes.lockTimeoutMs
    yield* database.client(costs.batchMs)
    yield* database.statement(deliveries.length * 0.01)
    const waitsFrom = time.nowMs
    if (inTurn?.takesTurns) yield (resume) => inTurn.enter(() => time.at(0, resume))
    const calledAt = time.nowMs
    const waitedMs = calledAt - waitsFrom
    if (interleaved) {
      yield* database.client(deliveries.length * (costs.messageMs + costs.clientMs))
      yield* database.statement(deliveries.length * costs.serverMs * alongShare)
    }
    for (const delivery of deliveries) {
      if (failed) break
      const row = rowOf.get(delivery) as number
      if (interleaved) {
        yield* database.lockRow(transaction, row, fail, lockTimeoutMs)
        continue
      }
      yield* database.client(costs.messageMs)
      yield* database.statement()
      yield* database.update(transaction, row, fail, lockTimeoutMs)
    }
    const callsMs = time.nowMs - calledAt
    inTurn?.leave()
    if (!failed) {
      yield* database.commit(transaction)
      return { waitedMs, callsMs }
    }
    database.release(transaction)
    yield* database.statement()
    return { waitedMs, callsMs: undefined }
  }

  type Handled = { readonly overheadMs: number; readonly waitedMs: number; readonly conflicts: number }

  function* handle({ deliveries }: TakenBatch, inTurn?: BatchInTurn): Generator<Step, Handled, void> {
    const most = deliveries.length >= 16 ? 2 : 1
    let waitedMs = 0
    for (let conflicts = 0; conflicts < most; conflicts++) {
      const begunAt = time.nowMs
      const attempt = yield* together(deliveries, inTurn)
      waitedMs += attempt.waitedMs
      if (attempt.callsMs !== undefined)
        return { overheadMs: time.nowMs - begunAt - attempt.waitedMs - attempt.callsMs, waitedMs, conflicts }
    }
    for (const delivery of deliveries) yield* alone(delivery)
    return { overheadMs: 0, waitedMs, conflicts: most }
  }

  let idle = 0
  function* worker(): Process {
    while (settled < messages) {
      idle++
      while (settled < messages && !(atOnce() - activity.busy > 0 && chains.canBegin(mayBegin)))
        yield (resume) => wakes.push(resume)
      if (settled >= messages) return
      const room = atOnce() - activity.busy
      const batch = chains.take(sizes.chooser(chains.candidates(mayBegin), Math.min(idle, room)), mayBegin)
      idle--
      if (batch.deliveries.length === 0) continue
      const inTurn = sizes.begin([type])
      activity.begin()
      const begunAt = time.nowMs
      const result = yield* handle(batch, fixed ? undefined : inTurn)
      conflicts += result.conflicts
      const tookMs = time.nowMs - begunAt - result.waitedMs
      workers.ended(time.nowMs)
      sizes.learn(
        { handled: batch.deliveries, size: batch.deliveries.length, tookMs, failures: 0, ...result },
        activity.handled(batch.deliveries.length),
      )
      chains.end(batch, () => undefined)
      activity.end()
      inTurn.end()
      used.push(batch.deliveries.length)
      for (const delivery of batch.deliveries) rowOf.delete(delivery)
      settled += batch.deliveries.length
      endedAtMs = time.nowMs
      refill()
    }
    wake()
  }

  refill()
  for (let i = 0; i < (fixed?.atOnce ?? most); i++) time.start(worker())
  time.run()
  return { perSecond: (messages / endedAtMs) * 1_000, conflicts, sizes: used }
}

/** A transaction for each message, without a claim. */
export function bare(world: World): number {
  const { rows, inFlight = 200, connections, messages } = world
  const { database, random } = place(world)
  let sent = 0
  let endedAtMs = 0
  function* worker(): Process {
    while (sent++ < messages) {
      const transaction = {}
      yield* database.statement()
      yield* database.statement()
      yield* database.update(transaction, Math.floor(random() * rows), () => {})
      yield* database.commit(transaction)
      endedAtMs = database.time.nowMs
    }
  }
  for (let i = 0; i < Math.min(connections, inFlight); i++) database.time.start(worker())
  database.time.run()
  return (messages / endedAtMs) * 1_000
}

/** Everything takes longer or shorter by chance, and now and then much longer, as it does while garbage is collected. */
function place({ costs, cores = 1, noise = 0.3, seed = 1 }: World): { database: Database; random: () => number } {
  const random = randomFrom(seed)
  const chance = () => (random() < 0.002 ? 20 : 1) * (1 - noise + random() * 2 * noise)
  return { database: new Database({ ...usualCosts, ...costs }, { cores, noise: chance }), random }
}

function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
