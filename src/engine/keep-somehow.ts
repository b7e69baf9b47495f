import type { Delivery, PositionMove } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import { packMessage } from '../encoding/packed-message.ts'
import { isJustonceError, JustonceError } from '../errors/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { type Batch, processBatch } from './process-batch.ts'
import type { Report } from './report.ts'
import type { Source } from './source.ts'
import { takesOthers } from './takes-others.ts'
import { Undone, unwrapped } from './undone.ts'
import { triedAgain, whyUndone } from './why-undone.ts'
import type { Origin, Refusal, Run } from './work.ts'

export interface NotKept<Tx> {
  readonly delivery: Delivery
  readonly origin: Pick<Origin, 'letter' | 'mark'>
  readonly runs: readonly Run<Tx>[]
}

export interface KeepingOptions {
  readonly report: Report
  /** Why the message itself has failed. */
  readonly failure: { readonly error: unknown }
  /** Why it could not be parked in the ordinary way. */
  readonly error: unknown
  readonly moves?: readonly PositionMove[] | undefined
}

/**
 * The last resort for a message that can be neither handled nor parked. It alone is held, for longer each time, and
 * everything else goes on. If that does not help although the store takes others, the message is to blame, and becomes a
 * dead letter in a form that fits every database; where it is too large, a note of it, at once.
 */
export async function keepSomehow<Tx>(
  engine: Engine<Tx>,
  source: Source,
  message: NotKept<Tx>,
  { report, failure, error, moves }: KeepingOptions,
): Promise<void> {
  const { delivery, origin, runs } = message
  // Only what is known to be too large loses its body: a full disk takes small rows, too.
  const isNote = await isTooLarge(engine, delivery)
  const times = timesStuck(engine, message)
  // A parked row is kept already: it can wait.
  const mayBeToBlame = origin.letter === undefined && times >= patience
  const isToBlame = isNote || (mayBeToBlame && (await takesOthers(engine, runs[0])))
  if (!isToBlame) return stuck(engine, message, error, report)
  const form = isNote ? 'note' : 'plain'
  const { letter, mark } = origin
  const refusal = { delivery, letter, mark, error: notKept(failure.error, error), form } as const
  const unkept = await parked(engine, source, refusal, report, moves)
  if (unkept !== undefined) stuck(engine, message, unkept.error, report)
}

/**
 * The same for what has not failed and only has to wait for its turn. What is too large to be parked is held until it need
 * not wait any more. Where a whole lane would stand still for it, a note of it is left instead: its lane still has it.
 */
export async function keepWaiting<Tx>(
  engine: Engine<Tx>,
  source: Source,
  message: NotKept<Tx>,
  options: Omit<KeepingOptions, 'failure'>,
): Promise<void> {
  const { delivery } = message
  const holdsUpOthers = (delivery.place ?? delivery.lane) !== undefined
  if (!holdsUpOthers && (await isTooLarge(engine, delivery)))
    return stuck(engine, message, options.error, options.report)
  await keepSomehow(engine, source, message, { ...options, failure: { error: options.error } })
}

async function isTooLarge<Tx>({ store }: Engine<Tx>, { message }: Delivery): Promise<boolean> {
  const limits = await store.limits?.()
  if (limits === undefined) return false
  const { envelope, body } = packMessage(message)
  return envelope.length + body.length > limits.messageBytes
}

/** Resolves to why it could not be, or to undefined: it is. */
async function parked<Tx>(
  engine: Engine<Tx>,
  source: Source,
  refusal: Refusal,
  report: Report,
  moves: readonly PositionMove[] | undefined,
): Promise<{ readonly error: unknown } | undefined> {
  const batch: Batch<Tx> = {
    works: [],
    refusals: [refusal],
    known: [],
    earlier: [],
    settles: true,
    partSize: 1,
    lockTimeoutMs: engine.timing.aloneLockTimeoutMs,
    ...(moves !== undefined && { moves }),
  }
  for (let tries = 1; ; tries++) {
    try {
      await afterTheCommit(engine, source, await processBatch(engine, source, batch), report)
      return undefined
    } catch (error) {
      if (!(await triedAgain(engine, await whyUndone(engine, error), tries))) return { error: unwrapped(error) }
    }
  }
}

/**
 * The store has refused one of its own statements: a right is missing. That is no failure of a message or its handler, and
 * no conflict that passes by itself: nothing is parked for it.
 */
export function isDenied(error: unknown): boolean {
  const isOurs = error instanceof Undone && (error.reason === 'held' || error.reason === 'unrecorded')
  const cause = isOurs ? error.cause : error
  return isJustonceError(cause, 'STORE_DENIED')
}

const shortestPauseMs = 1_000
const longestPauseMs = 60_000
/** So often it may be a bad moment. */
const patience = 2
const deliveriesStuck = new WeakMap<Delivery, number>()

/** A row is another delivery each time that it is taken. The oldest are forgotten: that makes a pause shorter, no more. */
const lettersStuck = new WeakMap<object, Map<string, number>>()
const mostLettersStuck = 10_000

function timesStuck<Tx>(engine: Engine<Tx>, { delivery, origin: { letter } }: Stuck): number {
  if (letter === undefined) return deliveriesStuck.get(delivery) ?? 0
  return lettersStuck.get(engine)?.get(`${letter.handler}\0${letter.key}`) ?? 0
}

function countStuck<Tx>(engine: Engine<Tx>, { delivery, origin: { letter } }: Stuck, times: number): void {
  if (letter === undefined) {
    deliveriesStuck.set(delivery, times)
    return
  }
  const letters = lettersStuck.get(engine) ?? new Map<string, number>()
  lettersStuck.set(engine, letters)
  const name = `${letter.handler}\0${letter.key}`
  letters.delete(name)
  letters.set(name, times)
  if (letters.size > mostLettersStuck) letters.delete(letters.keys().next().value as string)
}

type Stuck = Pick<NotKept<unknown>, 'delivery' | 'origin'>

/** Holds it, for longer each time, and says why. */
export function stuck<Tx>(engine: Engine<Tx>, message: Stuck, error: unknown, report: Report): void {
  const { delivery } = message
  const before = timesStuck(engine, message)
  const pauseMs = Math.min(shortestPauseMs * 2 ** Math.min(before, 20), longestPauseMs)
  countStuck(engine, message, before + 1)
  const { id: messageId, type } = delivery.message
  engine.events.emit({ kind: 'stuck', messageId, type, error, pauseMs })
  report.held.push(delivery)
  report.stuck.set(delivery, { pauseMs, error })
}

function notKept(failure: unknown, reason: unknown): JustonceError {
  const why = reason instanceof Error ? reason.message : anyText(reason)
  return new JustonceError('MESSAGE_NOT_KEPT', {
    message: `The store could not keep the message as it came: ${why}`,
    cause: failure,
  })
}
