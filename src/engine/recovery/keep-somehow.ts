import type { Delivery } from '../../contracts/index.ts'
import { anyText } from '../../encoding/any-text.ts'
import { packMessage } from '../../encoding/packed-message.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { RolledBack } from '../batch/rolled-back.ts'
import type { Engine } from '../engine.ts'
import { type Item, letterOf, type Refusal } from '../items.ts'
import { takesOthers } from './takes-others.ts'

/** A message that can be neither handled nor parked. */
export interface NotKept<Tx> {
  readonly item: Item<Tx>
  /** Why it could not be parked. */
  readonly error: unknown
  /** It has not failed, and only waits for its turn. */
  readonly isWaiting: boolean
}

/**
 * The last resort. Only this message is held, for longer each time, and everything else goes on. If that does not help
 * although the store accepts other messages, this message is to blame and becomes a dead letter in a form that fits every
 * database. If it is too large, a note of it becomes the dead letter immediately. Resolves to that refusal; `undefined`
 * if the message is held.
 * A message that only waits for its turn and is too large to be parked is held until it need not wait any more. If that
 * would block a whole lane, a note of it is kept instead: the lane still has the message.
 */
export async function lastResort<Tx>(
  engine: Engine<Tx>,
  { item, error, isWaiting }: NotKept<Tx>,
): Promise<Refusal | undefined> {
  const { delivery, work, refusal } = item
  const { letter, mark } = work?.origin ?? refusal ?? {}
  // Only a message that is known to be too large loses its body: small rows, too, can be refused when a disk is full.
  const isNote = await isTooLarge(engine, delivery)
  const holdsUpOthers = (delivery.place ?? delivery.lane) !== undefined
  if (isNote && isWaiting && !holdsUpOthers) return undefined
  // A parked row is already kept, so it can wait.
  const mayBeToBlame = letter === undefined && timesStuck(engine, item) >= patience
  const isToBlame = isNote || (mayBeToBlame && (await takesOthers(engine, work?.runs[0])))
  if (!isToBlame) return undefined
  const failure = refusal ?? work?.runs.find((run) => run.failure !== undefined)?.failure ?? { error }
  return { delivery, letter, mark, error: notKept(failure.error, error), form: isNote ? 'note' : 'plain' }
}

async function isTooLarge<Tx>({ store }: Engine<Tx>, { message }: Delivery): Promise<boolean> {
  const limits = await store.limits?.()
  if (limits === undefined) return false
  const { envelope, body } = packMessage(message)
  return envelope.length + body.length > limits.messageBytes
}

/**
 * The store refused one of its own statements because a permission is missing, or could not create a partition for that
 * reason. This is not a failure of a message or its handler, nor a conflict that resolves itself, so nothing is parked for it.
 */
export function isDenied(error: unknown): boolean {
  const isOurs = error instanceof RolledBack && (error.reason === 'held' || error.reason === 'unrecorded')
  const cause = isOurs ? error.cause : error
  return isJustonceError(cause, 'STORE_DENIED') || isJustonceError(cause, 'PARTITION_MISSING')
}

const shortestPauseMs = 1_000
const longestPauseMs = 60_000
/** Up to this often it may be a temporary problem. */
const patience = 2
const deliveriesStuck = new WeakMap<Delivery, number>()

/**
 * A row becomes a new delivery each time it is taken, so rows are counted by key. The oldest are forgotten, which only
 * makes a pause shorter.
 */
const lettersStuck = new WeakMap<object, Map<string, number>>()
const mostLettersStuck = 10_000

function timesStuck<Tx>(engine: Engine<Tx>, item: Item<Tx>): number {
  const letter = letterOf(item)
  if (letter === undefined) return deliveriesStuck.get(item.delivery) ?? 0
  return lettersStuck.get(engine)?.get(`${letter.handler}\0${letter.key}`) ?? 0
}

function countStuck<Tx>(engine: Engine<Tx>, item: Item<Tx>, times: number): void {
  const letter = letterOf(item)
  if (letter === undefined) {
    deliveriesStuck.set(item.delivery, times)
    return
  }
  const letters = lettersStuck.get(engine) ?? new Map<string, number>()
  lettersStuck.set(engine, letters)
  const name = `${letter.handler}\0${letter.key}`
  letters.delete(name)
  letters.set(name, times)
  if (letters.size > mostLettersStuck) letters.delete(letters.keys().next().value as string)
}

/** Holds the message, for longer each time, and reports why. Returns for how long. */
export function stuck<Tx>(engine: Engine<Tx>, item: Item<Tx>, error: unknown): number {
  const before = timesStuck(engine, item)
  const pauseMs = Math.min(shortestPauseMs * 2 ** Math.min(before, 20), longestPauseMs)
  countStuck(engine, item, before + 1)
  const { id: messageId, type } = item.delivery.message
  engine.events.emit({ kind: 'stuck', messageId, type, error, pauseMs })
  return pauseMs
}

function notKept(failure: unknown, reason: unknown): JustonceError {
  const why = reason instanceof Error ? reason.message : anyText(reason)
  return new JustonceError('MESSAGE_NOT_KEPT', {
    message: `The store could not keep the message as it came: ${why}`,
    cause: failure,
  })
}
